import Trash from "lucide/dist/esm/icons/trash.mjs";
import { useEffect, useRef } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { loadMoreThreads, pin, remove, rename, restore } from "../../state/threads.ts";
import { isOver } from "../../state/turn-view.ts";
import { useApp } from "../../state/use-app.ts";
import type { ThreadRow } from "../../state/wire.ts";
import { shortDate } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { entered } from "../../widgets/dialog.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { Menu } from "../../widgets/menu.tsx";
import { toast } from "../../widgets/toast.tsx";
import { focusField } from "../commands/commands.tsx";
import { groupByDate } from "./dates.ts";

/** `shown` is the open thread, if the chat is open. */
export function ThreadList({ shown }: { shown: string | undefined }) {
  const { threads, nextThreads, query } = useApp();
  const end = useRef<HTMLDivElement>(null);
  // More threads are loaded when the end of the list becomes visible.
  useEffect(() => {
    if (!end.current || nextThreads === undefined) return;
    // Several entries may arrive at once, from before and after scrolling.
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) void loadMoreThreads();
    });
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [nextThreads]);
  return (
    <nav class="threads" aria-label={text.frame.threads}>
      {groupByDate(threads, new Date()).map(({ title, threads: rows }) => (
        <section key={title}>
          <h2>{title}</h2>
          <Rows rows={query ? rows : rows.filter((row) => !isOneShot(row) && !isTask(row))} shown={shown} />
          <Folded rows={query ? [] : rows.filter(isOneShot)} shown={shown} words={text.frame.oneShots} />
          <Folded rows={query ? [] : rows.filter(isTask)} shown={shown} words={text.frame.tasks} />
        </section>
      ))}
      {threads.length === 0 && (
        <p class="soft none">{query ? text.frame.noThreadMatches : text.frame.noThreads}</p>
      )}
      <div class="end" ref={end} />
      {nextThreads === undefined && (
        <a class="bin" href="#/bin">
          <Icon of={Trash} />
          {text.pages.bin}
        </a>
      )}
    </nav>
  );
}

interface RowsProps {
  readonly rows: readonly ThreadRow[];
  readonly shown: string | undefined;
}

function Rows({ rows, shown }: RowsProps) {
  return (
    <ul>
      {rows.map((row) => (
        <Thread key={row.id} row={row} isOpen={row.id === shown} />
      ))}
    </ul>
  );
}

/** A question that was asked once with `postern ask`, and that nobody went on with. */
const isOneShot = ({ channel, turns, pinned, gate }: ThreadRow): boolean =>
  channel === "ask" && turns === 1 && !pinned && !gate;

/** What the agent delegated, unless a person is wanted there. */
const isTask = ({ channel, pinned, gate }: ThreadRow): boolean => channel === "task" && !pinned && !gate;

/** They would bury the chats, so one line stands for all of a day. */
function Folded({ rows, shown, words }: RowsProps & { words(count: number): string }) {
  const isInside = rows.some(({ id }) => id === shown);
  if (rows.length === 0) return null;
  return (
    <details open={isInside || undefined}>
      <summary>{words(rows.length)}</summary>
      <Rows rows={rows} shown={shown} />
    </details>
  );
}

function Thread({ row, isOpen }: { row: ThreadRow; isOpen: boolean }) {
  const { id, title, pinned, gate, match } = row;
  const { turns } = useApp();
  const onRename = async () => {
    const given = await entered({
      title: text.frame.renameThread,
      label: text.frame.title,
      value: title,
      yes: text.basics.rename,
    });
    if (given?.trim() && given !== title) await rename(id, given.trim());
  };
  const onDelete = async () => {
    // The menu has gone, and its button has the focus.
    const isByKey = document.activeElement?.matches(":focus-visible") ?? false;
    if (!(await remove(id))) return;
    const undo = async () => {
      if (!(await restore(id))) return;
      if (isOpen) location.hash = `#/chat/${id}`;
      else if (isByKey) await focusField(`.threads a[href="#/chat/${id}"]`);
    };
    toast(text.bin.moved, { label: text.basics.undo, run: undo }, isByKey);
  };
  const file = (format: string) => `/api/threads/${id}/export?format=${format}`;
  // The open thread is exported as shown, which may be an earlier version.
  const shown = isOpen ? turns.findLast(isOver) : undefined;
  return (
    <li class={isOpen ? "open" : ""}>
      <a href={`#/chat/${id}`} aria-current={isOpen ? "true" : undefined} title={title} dir="auto">
        {gate && <span class="waits">{text.frame.waits}</span>}
        <span class="title">
          {title}
          {match && (
            <span class="match">
              {shortDate(match.at)} · {visibleLine(match.text)}
            </span>
          )}
        </span>
      </a>
      <Menu
        label={text.frame.optionsFor(title)}
        items={[
          { label: text.basics.rename, onSelect: () => void onRename() },
          { label: pinned ? text.frame.unpin : text.frame.pin, onSelect: () => void pin(id, !pinned) },
          {
            label: text.frame.exportMarkdown,
            href: file("markdown") + (shown ? `&through=${shown.id}` : ""),
          },
          { label: text.frame.exportJson, href: file("json") },
          { label: text.basics.delete, danger: true, onSelect: () => void onDelete() },
        ]}
      />
    </li>
  );
}
