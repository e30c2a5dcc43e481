import { useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { ask } from "../../state/wire.ts";

/** Which of a server's tools, which run without asking, limits and credentials: the operator's file, as text. */
export function ServerFile({ name, onSaved }: { name: string; onSaved(): void }) {
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
