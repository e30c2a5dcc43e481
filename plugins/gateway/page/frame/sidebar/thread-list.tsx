import { useEffect, useRef } from "preact/hooks";
import { loadMoreThreads, pin, remove, rename } from "../../state/threads.ts";
import { isOver } from "../../state/turn-view.ts";
import { useApp } from "../../state/use-app.ts";
import type { ThreadRow } from "../../state/wire.ts";
import { confirmed, entered } from "../../widgets/dialog.tsx";
import { Menu } from "../../widgets/menu.tsx";
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
    <nav class="threads" aria-label="Threads">
      {groupByDate(threads, new Date()).map(({ title, threads: rows }) => (
        <section key={title}>
          <h2>{title}</h2>
          <ul>
            {rows.map((row) => (
              <Thread key={row.id} row={row} isOpen={row.id === shown} />
            ))}
          </ul>
        </section>
      ))}
      {threads.length === 0 && <p class="soft">{query ? "No thread matches." : "No threads yet."}</p>}
      <div class="end" ref={end} />
    </nav>
  );
}

function Thread({ row, isOpen }: { row: ThreadRow; isOpen: boolean }) {
  const { id, title, pinned, gate } = row;
  const { turns } = useApp();
  const onRename = async () => {
    const given = await entered({ title: "Rename thread", label: "Title", value: title, yes: "Rename" });
    if (given?.trim() && given !== title) await rename(id, given.trim());
  };
  const onDelete = async () => {
    const words = "Everything in it goes. This cannot be undone.";
    if (await confirmed({ title: `Delete “${title}”?`, words, yes: "Delete", danger: true }))
      await remove(id);
  };
  const file = (format: string) => `/api/threads/${id}/export?format=${format}`;
  // The open thread is exported as shown, which may be an earlier version.
  const shown = isOpen ? turns.findLast(isOver) : undefined;
  return (
    <li class={isOpen ? "open" : ""}>
      <a href={`#/chat/${id}`} aria-current={isOpen ? "true" : undefined} title={title} dir="auto">
        {gate && <span class="waits">waits · </span>}
        {title}
      </a>
      <Menu
        label={`Options for “${title}”`}
        items={[
          { label: "Rename", onSelect: () => void onRename() },
          { label: pinned ? "Unpin" : "Pin", onSelect: () => void pin(id, !pinned) },
          { label: "Export as Markdown", href: file("markdown") + (shown ? `&through=${shown.id}` : "") },
          { label: "Export as JSON", href: file("json") },
          { label: "Delete", danger: true, onSelect: () => void onDelete() },
        ]}
      />
    </li>
  );
}
