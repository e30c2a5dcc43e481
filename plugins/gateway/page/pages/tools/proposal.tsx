import type { ComponentChildren } from "preact";
import type { ToolProposal } from "../../state/wire.ts";
import { Grants } from "../../widgets/grants.tsx";

interface ProposalProps {
  readonly name: string;
  readonly proposal: ToolProposal;
  /** The action in progress; the button is disabled meanwhile. */
  readonly hint: string;
  readonly children?: ComponentChildren;
  onAgree(): void;
  onCancel(): void;
}

/** Shows what a tool may do before it is installed. */
export function Proposal({ name, proposal, hint, children, onAgree, onCancel }: ProposalProps) {
  return (
    <section class="gate" aria-label="Install a tool">
      <strong>
        {proposal.replaces ? `Replace ${name} ${proposal.replaces.version}` : `Install ${name}`}{" "}
        {proposal.version}?
      </strong>
      {children}
      <p class="soft">{proposal.description}</p>
      {proposal.replaces && proposal.replaces.added.length > 0 && (
        <div>
          <strong>New compared with the installed version:</strong>
          <Grants of={proposal.replaces.added} />
        </div>
      )}
      <Grants of={proposal.grants} />
      <p class="soft">SHA-256 {proposal.digest}</p>
      <span class="row">
        <button type="button" class="primary" disabled={hint !== ""} onClick={onAgree}>
          {proposal.replaces ? "Replace" : "Install"}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <span role="status">{hint}</span>
      </span>
    </section>
  );
}
