import Folder from "lucide/dist/esm/icons/folder.mjs";
import FolderPlus from "lucide/dist/esm/icons/folder-plus.mjs";
import Search from "lucide/dist/esm/icons/search.mjs";
import Upload from "lucide/dist/esm/icons/upload.mjs";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { DropTarget } from "../../chat/attachments/draft.tsx";
import { FileIcon } from "../../chat/attachments/sent-files.tsx";
import { attempt, request, showRefusal, update } from "../../state/app.ts";
import { contentUrl, filesLink, joinPath, nameIn } from "../../state/files.ts";
import { useLoaded } from "../../state/use-app.ts";
import {
  ask,
  type FileEntry,
  type FilesRoot,
  type FilesUsage,
  Refused,
  type Routes,
} from "../../state/wire.ts";
import { bytes as sizeOf } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Button, SearchBox } from "../../widgets/controls.tsx";
import { entered } from "../../widgets/dialog.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { List } from "../../widgets/list.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { Moment } from "../../widgets/moment.tsx";
import { EmptyState, LoadingState } from "../../widgets/states.tsx";
import { toast } from "../../widgets/toast.tsx";
import { Breadcrumbs } from "./breadcrumbs.tsx";
import { move, remove } from "./changes.tsx";
import { RecentChanges } from "./recent-changes.tsx";
import { type Sending, sendFiles } from "./uploads.ts";

const PAGE_SIZE = "200";
const words = text.files;

type Listing = Routes["GET /api/workspace"]["answer"];

type Found = Routes["GET /api/workspace/search"]["answer"];

/** A search waits for a pause in typing. */
const TYPING_MS = 250;

/** A folder: its files, and what can be done with them. */
export function FolderView({ folder }: { folder: string }) {
  const [listing, setListing] = useState<Listing>();
  const [sending, setSending] = useState<readonly Sending[]>([]);
  const [problem, setProblem] = useState<string>();
  const [query, setQuery] = useState("");
  const [usage, loadUsage] = useLoaded<FilesUsage>("/api/workspace/usage");
  const picker = useRef<HTMLInputElement>(null);

  const read = (after?: string) =>
    ask<Listing>(
      "GET",
      `/api/workspace?${new URLSearchParams({ folder, limit: PAGE_SIZE, ...(after && { after }) })}`,
    );
  const load = async () => {
    setProblem(undefined);
    try {
      setListing(await read());
      await loadUsage();
    } catch (error) {
      if (listing !== undefined || !(error instanceof Refused) || error.status === 401) showRefusal(error);
      else setProblem(error.message);
    }
  };
  const loadMore = async () => {
    const more = await attempt(() => read(listing?.next ?? undefined));
    if (more && listing) setListing({ ...more, entries: [...listing.entries, ...more.entries] });
  };
  useEffect(() => void load(), [folder]);

  const upload = useCallback(
    async (files: readonly File[]) => {
      if (files.length === 0) return;
      const sent = await sendFiles(folder, files, setSending);
      // What went well is in the list; what did not stays to be read.
      if (sent.every(({ state }) => state === "sent")) {
        setSending([]);
        toast(words.uploadedCount(sent.length));
      }
      await load();
    },
    [folder],
  );
  const refuseFolder = useCallback(() => update({ trouble: words.noFolders }), []);
  const createFolder = async () => {
    const name = await entered({ title: words.newFolder, label: words.folderName, yes: words.create });
    if (name && (await request("POST", "/api/workspace/folders", { path: joinPath(folder, name) })))
      await load();
  };
  const onMove = async (entry: FileEntry) => {
    if (await move(entry)) await load();
  };
  const onRemove = async (entry: FileEntry) => {
    await remove(entry, load);
    await load();
  };

  return (
    <Page
      title={text.pages.files}
      actions={
        <>
          <Button label={words.newFolder} icon={FolderPlus} onClick={createFolder} />
          <Button
            label={text.basics.upload}
            icon={Upload}
            class="primary"
            onClick={() => picker.current?.click()}
          />
        </>
      }
    >
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label={words.toUpload}
        onChange={({ currentTarget }) => {
          void upload([...(currentTarget.files ?? [])]);
          // The same file may be chosen again.
          currentTarget.value = "";
        }}
      />
      <DropTarget words={words.dropHere} onFiles={upload} onFolder={refuseFolder} />
      {folder === "/" ? (
        <SearchBox label={words.search} value={query} onText={setQuery} />
      ) : (
        <Breadcrumbs path={folder} />
      )}
      <Uploads of={sending} onClose={() => setSending([])} />
      {query.trim() !== "" ? (
        <Hits query={query.trim()} />
      ) : listing === undefined ? (
        <Loaded of={{ answer: undefined, problem, load }}>{() => null}</Loaded>
      ) : (
        <div class="files">
          {listing.entries.length === 0 && (
            <EmptyState
              title={words.empty}
              icon={Folder}
              action={<Button label={text.basics.upload} onClick={() => picker.current?.click()} />}
            >
              {words.emptyNote}
            </EmptyState>
          )}
          <List columns={Object.values(words.columns)} items={listing.entries}>
            {(entry) => (
              <Row
                key={entry.path}
                entry={entry}
                onMove={() => void onMove(entry)}
                onRemove={() => void onRemove(entry)}
              />
            )}
          </List>
        </div>
      )}
      {query.trim() === "" && listing?.next && <Button label={text.basics.showMore} onClick={loadMore} />}
      {listing && usage && (
        <>
          {folder === "/" && <Roots />}
          <RecentChanges key={listing.entries.length} onChanged={load} />
          <Quota usage={usage} />
        </>
      )}
    </Page>
  );
}

/** What a search finds in all files, with the lines and dates. */
function Hits({ query }: { query: string }) {
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    let isCurrent = true;
    const timer = setTimeout(async () => {
      const path = `/api/workspace/search?${new URLSearchParams({ q: query })}`;
      const answer = await request<Found>("GET", path);
      if (isCurrent && answer) setFound(answer);
    }, TYPING_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [query]);
  if (found === undefined) return <LoadingState lines={4} />;
  if (found.hits.length === 0)
    return (
      <EmptyState title={words.nothingFound} icon={Search}>
        {words.nothingFoundNote}
      </EmptyState>
    );
  return (
    <>
      <ul class="hits">
        {found.hits.map(({ path, line, text: said, updated_at: at }) => (
          <li key={`${path} ${line}`}>
            <a href={filesLink(path)} dir="auto">
              {visibleLine(path)}
            </a>
            {at && (
              <span class="soft when">
                <Moment at={at} />
              </span>
            )}
            {said !== undefined && <span class="soft">{visibleLine(said.trim())}</span>}
          </li>
        ))}
      </ul>
      {!found.complete && <p class="soft">{words.moreHits}</p>}
    </>
  );
}

interface RowProps {
  readonly entry: FileEntry;
  onMove(): void;
  onRemove(): void;
}

function Row({ entry: { path, kind, bytes, updated_at, is_read_only }, onMove, onRemove }: RowProps) {
  const name = visibleLine(nameIn(path));
  const items = [
    ...(kind === "file" ? [{ label: text.basics.download, href: contentUrl(path) }] : []),
    ...(is_read_only
      ? []
      : [
          { label: words.move, onSelect: onMove },
          { label: text.basics.remove, danger: true, onSelect: onRemove },
        ]),
  ];
  return (
    <tr>
      <td>
        <a class="file-name" href={filesLink(path)}>
          {kind === "folder" ? (
            <span class="file-icon folder">
              <Icon of={Folder} />
            </span>
          ) : (
            <FileIcon name={name} />
          )}
          <span dir="auto">{name}</span>
          {is_read_only && <span class="tag">{words.readOnly}</span>}
        </a>
      </td>
      <td>{kind === "folder" ? "" : sizeOf(bytes)}</td>
      <td>{updated_at && kind === "file" && <Moment at={updated_at} />}</td>
      <td>{items.length > 0 && <Menu label={text.basics.actionsFor(name)} items={items} />}</td>
    </tr>
  );
}

function Uploads({ of: sending, onClose }: { of: readonly Sending[]; onClose(): void }) {
  if (sending.length === 0) return null;
  const isOver = sending.every(({ state }) => state !== "sending");
  return (
    <section class="card" aria-label={words.uploads}>
      <ul class="entries">
        {sending.map(({ name, progress, state, problem, cancel }) => (
          <li key={name}>
            <span>
              <b dir="auto">{visibleLine(name)}</b>
              {state === "sending" && (
                <progress max={1} value={progress} aria-label={words.uploading(visibleLine(name))} />
              )}
              {state !== "sending" && (
                <span class={problem ? "why" : "soft"} role="status">
                  {problem ?? words.uploaded}
                </span>
              )}
            </span>
            {state === "sending" && (
              <Button label={text.basics.cancel} aria-label={words.cancelOf(name)} onClick={cancel} />
            )}
          </li>
        ))}
      </ul>
      {isOver && (
        <span class="row">
          <Button label={text.basics.dismiss} onClick={onClose} />
        </span>
      )}
    </section>
  );
}

/** Other workspaces, and folders of the machine that cannot be used now. */
function Roots() {
  const [found] = useLoaded<{ roots: readonly FilesRoot[] }>("/api/workspace/roots");
  const others = found?.roots.filter(({ kind, problem }) => kind === "named" || problem) ?? [];
  if (others.length === 0) return null;
  return (
    <section class="card" aria-label={words.otherWorkspaces}>
      <h2>{words.otherWorkspaces}</h2>
      <ul>
        {others.map(({ name, kind, problem }) => (
          <li key={`${kind} ${name}`}>
            {problem ? visibleLine(name) : <a href={filesLink(`${name}:/`)}>{visibleLine(name)}</a>}
            {problem && <span class="soft"> {problem}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Quota({ usage: { bytes, max_bytes, files, max_files } }: { usage: FilesUsage }) {
  return (
    <p class="quota soft">
      <meter min={0} max={max_bytes} high={max_bytes * 0.9} value={bytes} aria-label={words.room} />
      <span>{words.quota(bytes, max_bytes, files, max_files)}</span>
    </p>
  );
}
