import BookOpen from "lucide/dist/esm/icons/book-open.mjs";
import Plus from "lucide/dist/esm/icons/plus.mjs";
import Search from "lucide/dist/esm/icons/search.mjs";
import { useEffect, useState } from "preact/hooks";
import { request } from "../../state/app.ts";
import { useShown } from "../../state/use-app.ts";
import { ask, type MemoryFile, type MemoryHit } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Card } from "../../widgets/card.tsx";
import { Button, SearchBox } from "../../widgets/controls.tsx";
import { confirmed, entered } from "../../widgets/dialog.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { Moment } from "../../widgets/moment.tsx";
import { EmptyState } from "../../widgets/states.tsx";
import { toast } from "../../widgets/toast.tsx";
import { at, History } from "./history.tsx";

const words = text.memory;
/** The search waits for a pause in typing. */
const TYPING_MS = 150;

/** A new file has not been written yet. */
type EditedFile = Omit<MemoryFile, "updated_at">;

export function MemoryPage() {
  const [query, setQuery] = useState("");
  const [file, setFile] = useState<EditedFile>();
  const hits = useShown(async () => {
    const path = `/api/memory?${new URLSearchParams({ q: query })}`;
    return { query, ...(await ask<{ results: readonly MemoryHit[] }>("GET", path)) };
  });
  useEffect(() => {
    // The first ones are loaded already.
    if (hits.answer === undefined) return;
    const timer = setTimeout(() => void hits.load(), TYPING_MS);
    return () => clearTimeout(timer);
  }, [query]);
  const open = async (path: string) => setFile(await request<MemoryFile>("GET", at(path)));
  const create = async () => {
    const question = { title: words.newFile, label: words.path, yes: words.create };
    const path = await entered({ ...question, placeholder: words.pathExample });
    if (path) setFile({ path, text: "", version: 0 });
  };
  const close = () => {
    setFile(undefined);
    void hits.load();
  };

  return (
    <Page
      title={text.pages.memory}
      actions={!file && <Button label={words.newFile} icon={Plus} class="primary" onClick={create} />}
    >
      {file ? (
        <Editor key={file.path} file={file} onClose={close} />
      ) : (
        <>
          <SearchBox label={words.search} value={query} onText={setQuery} />
          <Loaded of={hits}>
            {({ results, query: asked }) =>
              results.length > 0 ? (
                <ul class="hits">
                  {results.map((hit) => (
                    <li key={hit.path}>
                      <button type="button" class="plain" onClick={() => open(hit.path)}>
                        {hit.path}
                      </button>
                      <span class="soft when">
                        <Moment at={hit.updated_at} />
                      </span>
                      {hit.snippet && <span class="soft">{hit.snippet}</span>}
                    </li>
                  ))}
                </ul>
              ) : asked ? (
                <EmptyState title={words.nothingFound} icon={Search}>
                  {words.nothingFoundNote}
                </EmptyState>
              ) : (
                <EmptyState title={words.none} icon={BookOpen}>
                  {words.noneNote}
                </EmptyState>
              )
            }
          </Loaded>
        </>
      )}
    </Page>
  );
}

function Editor({ file, onClose }: { file: EditedFile; onClose(): void }) {
  const [written, setWritten] = useState(file.text);
  const write = async (content: string, said = words.saved(file.path)) => {
    const body = { text: content, version: file.version };
    if (!(await request("PUT", at(file.path), body))) return;
    toast(said);
    onClose();
  };
  const restore = async (version: number, content: string) => {
    const title = words.restoreTitle(version, file.path);
    if (await confirmed({ title, words: words.restoreWords, yes: text.basics.restore }))
      await write(content, text.versions.restored(version));
  };
  const forget = async () => {
    const question = { title: words.deleteTitle(file.path), yes: text.basics.delete, danger: true };
    if (!(await confirmed(question))) return;
    if (!(await request("DELETE", at(file.path)))) return;
    toast(words.deleted(file.path));
    onClose();
  };
  return (
    <Card title={file.path}>
      <textarea
        class="editor"
        aria-label={words.textOf(file.path)}
        dir="auto"
        value={written}
        onInput={(event) => setWritten(event.currentTarget.value)}
      />
      <span class="row">
        <Button label={text.basics.save} class="primary" onClick={() => write(written)} />
        <Button label={words.back} onClick={onClose} />
        {file.version > 0 && <Button label={words.forget} class="danger" onClick={forget} />}
      </span>
      {file.version > 0 && <History path={file.path} newest={file.version} onRestore={restore} />}
    </Card>
  );
}
