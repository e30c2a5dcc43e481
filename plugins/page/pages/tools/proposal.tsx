import type { ComponentChildren } from "preact";
import type { ToolProposal } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Button } from "../../widgets/controls.tsx";
import { Grants } from "../../widgets/grants.tsx";

const words = text.tools.proposal;

interface ProposalProps {
  readonly name: string;
  readonly proposal: ToolProposal;
  /** The action in progress; the button is disabled meanwhile. */
  readonly hint: string;
  readonly children?: ComponentChildren;
  onAgree(): unknown;
  onCancel(): unknown;
}

/** Shows what a tool may do before it is installed. */
export function Proposal({ name, proposal, hint, children, onAgree, onCancel }: ProposalProps) {
  return (
    <section class="proposal" aria-label={words.label}>
      <strong>
        {proposal.replaces
          ? words.replace(name, proposal.replaces.version, proposal.version)
          : words.install(name, proposal.version)}
      </strong>
      {children}
      <p class="soft">{proposal.description}</p>
      {proposal.replaces && proposal.replaces.added.length > 0 && (
        <div>
          <strong>{words.added}</strong>
          <Grants of={proposal.replaces.added} />
        </div>
      )}
      <Grants of={proposal.grants} />
      <p class="soft">SHA-256 {proposal.digest}</p>
      <AgreeOrCancel
        label={proposal.replaces ? words.yes.replace : words.yes.install}
        {...{ hint, onAgree, onCancel }}
      />
    </section>
  );
}

interface AgreeOrCancelProps extends Pick<ProposalProps, "hint" | "onAgree" | "onCancel"> {
  readonly label: string;
}

export function AgreeOrCancel({ label, hint, onAgree, onCancel }: AgreeOrCancelProps) {
  return (
    <span class="row">
      <Button label={label} class="primary" disabled={hint !== ""} onClick={onAgree} />
      <Button label={text.basics.cancel} onClick={onCancel} />
      <span role="status">{hint}</span>
    </span>
  );
}
