import { useState } from "preact/hooks";
import { attempt } from "../../../state/app.ts";
import { ask } from "../../../state/wire.ts";

type Kind = "url" | "command";

/** Adds a server by its address, or as a command on this machine, with a warning about the risk. */
export function AddServer({ onAdded }: { onAdded(): void }) {
  const [kind, setKind] = useState<Kind>("url");
  const [hint, setHint] = useState("");
  const add = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const given = new FormData(form);
    const text = (name: string) => String(given.get(name) ?? "").trim();
    const body = {
      name: text("name"),
      ...(kind === "url"
        ? { url: text("url") }
        : { command: linesOf(text("command")), env: envOf(text("env")) }),
      token: text("token") || undefined,
      per_user: given.has("per_user") || undefined,
      agree: given.has("agree"),
    };
    setHint("Connecting…");
    const added = await attempt(() => ask("POST", "/api/mcp/servers", body));
    setHint("");
    if (!added) return;
    form.reset();
    onAdded();
  };
  return (
    <details class="card">
      <summary>Add a server</summary>
      <form class="stack" onSubmit={(event) => void add(event)}>
        <label for="mcp-name">Name</label>
        <input id="mcp-name" name="name" required pattern="[a-z0-9\-]{1,32}" placeholder="such as github" />
        <fieldset class="row">
          <legend class="unseen">How to reach it</legend>
          <label>
            <input type="radio" name="kind" checked={kind === "url"} onChange={() => setKind("url")} /> By its
            address
          </label>
          <label>
            <input
              type="radio"
              name="kind"
              checked={kind === "command"}
              onChange={() => setKind("command")}
            />{" "}
            By a command
          </label>
        </fieldset>
        {kind === "url" ? (
          <>
            <label for="mcp-url">Address</label>
            <input id="mcp-url" name="url" type="url" required placeholder="https://…/mcp" />
            <label for="mcp-token">Token (optional, if it takes one)</label>
            <input id="mcp-token" name="token" type="password" autocomplete="off" />
            <label>
              <input type="checkbox" name="per_user" /> Each user signs in with their own account
            </label>
          </>
        ) : (
          <>
            <p class="banner">
              The command runs on this machine, outside the sandbox, as the user that Postern runs as. It can
              read and change everything that user can. Only add what you would run yourself.
            </p>
            <label for="mcp-command">Command and arguments, one per line</label>
            <textarea id="mcp-command" name="command" required rows={3} />
            <label for="mcp-env">Environment (optional), NAME=value, one per line</label>
            <textarea id="mcp-env" name="env" rows={2} />
          </>
        )}
        <label>
          <input type="checkbox" name="agree" /> Let tools that it marks as read-only run without asking
        </label>
        <span class="row">
          <button type="submit" class="primary" disabled={hint !== ""}>
            Add
          </button>
          <span role="status">{hint}</span>
        </span>
      </form>
    </details>
  );
}

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line.trim() !== "");

function envOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf("=");
      return at === -1 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1)];
    }),
  );
}
