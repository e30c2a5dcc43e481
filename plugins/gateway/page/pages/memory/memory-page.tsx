import { useEffect, useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { ask, type MemoryFile, type MemoryHit } from "../../state/wire.ts";
import { Page } from "../../widgets/bar.tsx";
import { confirmed, entered } from "../../widgets/dialog.tsx";
import { at, History } from "./history.tsx";

/** A new file has not been written yet. */
type EditedFile = Omit<MemoryFile, "updated_at">;

export function MemoryPage() {
  const [query, setQuery] = useState("");
  const [hits, setHits] = useState<readonly MemoryHit[]>([]);
  const [file, setFile] = useState<EditedFile>();

  const search = async (q: string) => {
    const found = await attempt(() =>
      ask<{ results: readonly MemoryHit[] }>("GET", `/api/memory?${new URLSearchParams({ q })}`),
    );
    if (found) setHits(found.results);
  };
  useEffect(() => {
    // The search waits for a pause in typing.
    const timer = setTimeout(() => void search(query), 150);
    return () => clearTimeout(timer);
  }, [query]);
  const open = async (path: string) => setFile(await attempt(() => ask<MemoryFile>("GET", at(path))));
  const create = async () => {
    const path = await entered({
      title: "New file",
      label: "Path",
      placeholder: "notes/garden.md",
      yes: "Create",
    });
    if (path) setFile({ path, text: "", version: 0 });
  };
  const close = () => {
    setFile(undefined);
    void search(query);
  };

  return (
    <Page
      title="Memory"
      actions={
        <button type="button" onClick={() => void create()}>
          New file
        </button>
      }
    >
      {file ? (
        <Editor key={file.path} file={file} onClose={close} />
      ) : (
        <>
          <input
            type="search"
            aria-label="Search memory"
            placeholder="Search memory"
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
          {hits.length === 0 && <p class="soft">{query ? "Nothing found." : "Nothing is remembered yet."}</p>}
          {hits.map((hit) => (
            <article class="card" key={hit.path}>
              <h2>
                <button type="button" class="plain" onClick={() => void open(hit.path)}>
                  {hit.path}
                </button>
                <span class="tag">{new Date(hit.updated_at).toLocaleString()}</span>
              </h2>
              {hit.snippet && <span class="soft">{hit.snippet}</span>}
            </article>
          ))}
        </>
      )}
    </Page>
  );
}

function Editor({ file, onClose }: { file: EditedFile; onClose(): void }) {
  const [text, setText] = useState(file.text);
  const write = async (words: string) => {
    const saved = await attempt(() => ask("PUT", at(file.path), { text: words, version: file.version }));
    if (saved) onClose();
  };
  const restore = async (version: number, words: string) => {
    const title = `Restore version ${version} of ${file.path}?`;
    if (await confirmed({ title, words: "It is saved as the newest version.", yes: "Restore" }))
      await write(words);
  };
  const forget = async () => {
    if (!(await confirmed({ title: `Delete ${file.path}?`, yes: "Delete", danger: true }))) return;
    await attempt(() => ask("DELETE", at(file.path)));
    onClose();
  };
  return (
    <section class="card">
      <h2>{file.path}</h2>
      <textarea
        class="editor"
        aria-label={`Text of ${file.path}`}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <span class="row">
        <button type="button" class="primary" onClick={() => void write(text)}>
          Save
        </button>
        <button type="button" onClick={onClose}>
          Back
        </button>
        {file.version > 0 && (
          <button type="button" class="danger" onClick={() => void forget()}>
            Forget
          </button>
        )}
      </span>
      {file.version > 0 && <History path={file.path} newest={file.version} onRestore={restore} />}
    </section>
  );
}
