import { useState } from "preact/hooks";
import { attempt } from "../app.ts";
import { ask, type ToolFinding } from "../wire.ts";
import { Proposal } from "./proposal.tsx";

/** Names a tool that is somewhere else; who signed it and what it may do is shown before anything happens. */
export function FindTool({ onInstalled }: { onInstalled(): void }) {
  const [from, setFrom] = useState("");
  const [hint, setHint] = useState("");
  const [found, setFound] = useState<ToolFinding>();

  const find = async (event: Event) => {
    event.preventDefault();
    setHint("Getting it and checking it…");
    const finding = await attempt(() => ask<ToolFinding>("POST", "/api/tools/find", { from: from.trim() }));
    setHint("");
    setFound(finding);
  };
  const install = async () => {
    if (!found) return;
    setHint("Installing…");
    const installed = await attempt(() =>
      ask("POST", "/api/tools/install", {
        from: from.trim(),
        name: found.name,
        digest: found.origin.digest,
        replace: found.replaces !== undefined,
        allow_unsigned: !found.signed,
      }),
    );
    setHint("");
    if (!installed) return;
    setFound(undefined);
    setFrom("");
    onInstalled();
  };

  if (found) {
    return (
      <Proposal
        name={found.name}
        proposal={found}
        hint={hint}
        onAgree={() => void install()}
        onCancel={() => setFound(undefined)}
      >
        <p class={found.signed ? "soft" : "failed"}>{sentence(found.signature)}</p>
        <p class="soft">
          From {found.origin.reference}, {found.origin.digest}
        </p>
      </Proposal>
    );
  }
  return (
    <form class="row" aria-label="Install a tool by its name" onSubmit={(event) => void find(event)}>
      <input
        type="text"
        required
        maxLength={2048}
        spellcheck={false}
        placeholder="oci://…, https://…, npm:… or a name"
        aria-label="Where the tool is"
        value={from}
        onInput={(event) => setFrom(event.currentTarget.value)}
      />
      <button type="submit" disabled={hint !== ""}>
        Look at it
      </button>
      <span role="status">{hint}</span>
    </form>
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
