import { useState } from "preact/hooks";
import { attempt } from "../../../state/app.ts";
import { ask, type McpServer, type McpTool, type Tool } from "../../../state/wire.ts";
import { confirmed } from "../../../widgets/dialog.tsx";
import type { Remembered } from "../decision.tsx";
import { ServerSignIn } from "./server-sign-in.tsx";
import { ServerTool } from "./server-tool.tsx";

interface ServerCardProps {
  readonly server: McpServer;
  readonly tools: readonly Tool[];
  readonly remembered: Remembered;
  readonly isOperator: boolean;
  onChanged(): void;
}

const isBad = ({ status }: McpServer) => status === "unreachable" || status === "unauthenticated";

/** One server: its status, its sign-in and its tools. */
export function ServerCard({ server, tools, remembered, isOperator, onChanged }: ServerCardProps) {
  const [hint, setHint] = useState("");
  const { name, kind, address, status, detail, revision } = server;
  const path = `/api/mcp/servers/${name}`;
  const held = server.tools.filter(({ state }) => state === "held");
  const change = async (work: () => Promise<unknown>, doing = "") => {
    setHint(doing);
    const done = await attempt(work);
    setHint("");
    onChanged();
    return done;
  };
  // Sends the digests that are on the screen, since the server may have changed its tools by now.
  const agree = (shown: readonly McpTool[]) =>
    change(() =>
      ask("POST", `${path}/agree`, { tools: shown.map(({ tool, digest }) => ({ tool, digest })) }),
    );
  const test = async () => {
    const found = await change(() => ask<McpServer>("POST", `${path}/test`), "Connecting…");
    const { tools: all } = (found ?? {}) as Partial<McpServer>;
    if (all) setHint(`It answers, with ${all.length} tool${all.length === 1 ? "" : "s"}.`);
  };
  const remove = async () => {
    const words = "Its tools and the sign-ins to it go with it.";
    if (await confirmed({ title: `Remove ${name}?`, words, yes: "Remove", danger: true }))
      await change(() => ask("DELETE", path));
  };

  return (
    <article class="card" aria-label={`Server ${name}`}>
      <h3>
        {name} <span class="tag">{kind === "http" ? "web" : "command"}</span>
        <span class={`tag ${isBad(server) ? "failed" : ""}`}>{status}</span>
        {held.length > 0 && <span class="tag failed">{held.length} held back</span>}
        {revision && <span class="tag">{revision}</span>}
      </h3>
      <code>{address}</code>
      {detail && <p class={isBad(server) ? "trouble" : "soft"}>{detail}</p>}
      <ServerSignIn server={server} isOperator={isOperator} onChanged={onChanged} />
      {held.length > 1 && isOperator && (
        <span class="row">
          <button type="button" onClick={() => void agree(held)}>
            Agree to all {held.length} as they are now
          </button>
        </span>
      )}
      {server.tools.length === 0 && <p class="soft">No tools are known yet.</p>}
      {server.tools.map((tool) => (
        <ServerTool
          key={tool.name}
          tool={tool}
          fingerprint={tools.find((known) => known.name === tool.name)?.fingerprint}
          remembered={remembered[tool.name]}
          onAgree={isOperator ? () => void agree([tool]) : undefined}
          onChanged={onChanged}
        />
      ))}
      {isOperator && (
        <>
          <ServerFile name={name} onSaved={onChanged} />
          <span class="row">
            <button type="button" disabled={hint === "Connecting…"} onClick={() => void test()}>
              Test
            </button>
            <button type="button" class="danger" onClick={() => void remove()}>
              Remove {name}
            </button>
            <span role="status">{hint}</span>
          </span>
        </>
      )}
    </article>
  );
}

/** The operator's file of a server as text: its tools, approvals, limits and credentials. */
function ServerFile({ name, onSaved }: { name: string; onSaved(): void }) {
  const [file, setFile] = useState<string>();
  const [hint, setHint] = useState("");
  const path = `/api/mcp/servers/${name}/file`;
  const load = async () => setFile((await attempt(() => ask<{ file: string }>("GET", path)))?.file);
  const save = async (event: Event) => {
    event.preventDefault();
    const saved = await attempt(() => ask("PUT", path, { file }));
    setHint(saved ? "Saved." : "");
    if (saved) onSaved();
  };
  return (
    <details onToggle={(event) => event.currentTarget.open && file === undefined && void load()}>
      <summary>Edit its file</summary>
      {file !== undefined && (
        <form class="stack" onSubmit={(event) => void save(event)}>
          <textarea
            class="editor"
            aria-label={`The file of ${name}`}
            spellcheck={false}
            value={file}
            onInput={(event) => setFile(event.currentTarget.value)}
          />
          <span class="row">
            <button type="submit">Save</button>
            <span role="status">{hint}</span>
          </span>
        </form>
      )}
    </details>
  );
}
