import type { McpTool } from "../../../state/wire.ts";
import { Differences } from "../../../widgets/differences.tsx";
import { Decision } from "../decision.tsx";
import { Receipts } from "../receipts.tsx";

interface ServerToolProps {
  readonly tool: McpTool;
  readonly fingerprint: string | undefined;
  readonly remembered: "allow" | "deny" | undefined;
  /** Undefined for people who may not agree. */
  readonly onAgree: (() => void) | undefined;
  onChanged(): void;
}

const STATES = {
  runs: "runs without asking",
  asks: "asks before it runs",
  off: "off by the server's file",
  held: "held back",
} as const;

/** A tool of a server: its description, and the changes if it is held back. */
export function ServerTool({ tool, fingerprint, remembered, onAgree, onChanged }: ServerToolProps) {
  const { name, description, state, warnings, change } = tool;
  const known = { name, fingerprint };
  return (
    <section class="tool" id={`tool-${name}`} aria-label={name} tabIndex={-1}>
      <h4>
        {name}
        <span class={`tag ${state === "held" ? "failed" : ""}`}>{STATES[state]}</span>
        {tool.read_only && <span class="tag">read-only, says the server</span>}
      </h4>
      <p class="soft">The server says: {description || "nothing"}</p>
      {warnings.map((warning) => (
        <p class="banner" key={warning}>
          {warning}
        </p>
      ))}
      {state === "held" && (
        <div class="trouble">
          <span>
            {change
              ? "The server has changed this tool since it was agreed to. It is not used until the operator has agreed to this:"
              : "This tool is not used until the operator has agreed to it."}
          </span>
          {change && <Differences lines={change.differences} />}
          {onAgree && (
            <span class="row">
              <button type="button" onClick={onAgree}>
                Agree to {name} as it is now
              </button>
            </span>
          )}
        </div>
      )}
      {state === "asks" && tool.read_only && onAgree && (
        <span class="row">
          <button type="button" onClick={onAgree}>
            Let everybody run {name} without asking
          </button>
        </span>
      )}
      {(state === "runs" || state === "asks") && (
        <Decision tool={known} asks={state === "asks"} remembered={remembered} onChanged={onChanged} />
      )}
      <details>
        <summary>Parameters</summary>
        <pre class="log">{JSON.stringify(tool.schema, null, 2)}</pre>
      </details>
      <Receipts tool={name} />
    </section>
  );
}
