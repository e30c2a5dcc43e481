/** `@` in a message: completes a file of the workspace. */
import { useEffect, useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { folderOf } from "../../state/files.ts";
import { ask, type FileEntry } from "../../state/wire.ts";
import { text } from "../../text/text.ts";

const MENTION = /(?:^|\s)@(\S{0,500})$/;
const MAX_SHOWN = 8;
const MAX_READ = 1000;
const PAUSE_MS = 120;

export interface Mention {
  readonly entries: readonly FileEntry[];
  readonly chosen: number;
  choose(index: number): void;
  close(): void;
  /** Where the mention begins and ends in the text. */
  readonly from: number;
  readonly to: number;
}

/** The mention before the cursor, and the files that it may mean; undefined where there is none. */
export function useMention(draft: string, cursor: number): Mention | undefined {
  const typed = MENTION.exec(draft.slice(0, cursor))?.[1];
  const [found, setFound] = useState<readonly FileEntry[]>([]);
  const [chosen, choose] = useState(0);
  const [closed, close] = useState<string>();
  useEffect(() => {
    choose(0);
    if (typed === undefined) {
      setFound([]);
      close(undefined);
      return;
    }
    let isGone = false;
    const timer = setTimeout(async () => {
      // Where there is no workspace, an at sign is only an at sign.
      const entries = await findFiles(typed).catch(() => []);
      if (!isGone) setFound(entries);
    }, PAUSE_MS);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [typed]);
  if (typed === undefined || found.length === 0 || closed !== undefined) return undefined;
  return {
    entries: found,
    chosen,
    choose,
    close: () => close(typed),
    from: cursor - typed.length - 1,
    to: cursor,
  };
}

/** Before the first slash every file is looked at, after it those of the folder. */
async function findFiles(typed: string): Promise<readonly FileEntry[]> {
  const path = /^\/|:\//.test(typed) ? typed : `/${typed}`;
  const isInFolder = typed.replace(/^\//, "").includes("/");
  const folder = isInFolder ? (path.endsWith("/") ? path.slice(0, -1) || "/" : (folderOf(path) ?? "/")) : "/";
  const query = new URLSearchParams({
    folder,
    limit: String(MAX_READ),
    ...(!isInFolder && { deep: "true" }),
  });
  const { entries } = await ask<{ entries: readonly FileEntry[] }>("GET", `/api/workspace?${query}`);
  const wanted = typed.toLowerCase();
  const matching = entries.filter((entry) => entry.path.toLowerCase().includes(wanted));
  // Those whose names begin like this come first.
  const rank = ({ path }: FileEntry) =>
    path
      .toLowerCase()
      .split("/")
      .some((part) => part.startsWith(wanted))
      ? 0
      : 1;
  return matching.toSorted((a, b) => rank(a) - rank(b)).slice(0, MAX_SHOWN);
}

interface MentionListProps {
  readonly id: string;
  readonly mention: Mention;
  onPick(entry: FileEntry): void;
}

export function MentionList({ id, mention: { entries, chosen }, onPick }: MentionListProps) {
  return (
    <div class="mentions" role="listbox" id={id} aria-label={text.chat.attachments.ofWorkspace}>
      {entries.map((entry, at) => (
        <div
          key={entry.path}
          id={`${id}-${at}`}
          role="option"
          tabIndex={-1}
          aria-selected={at === chosen}
          // The field keeps the focus.
          onPointerDown={(event) => {
            event.preventDefault();
            onPick(entry);
          }}
        >
          <span dir="auto">{visibleLine(entry.path)}</span>
          {entry.kind === "folder" ? "/" : ""}
        </div>
      ))}
    </div>
  );
}
