import { useState } from "preact/hooks";
import { loadThreads, openThread, remove, rename, update } from "../app.ts";
import { useApp } from "../use-app.ts";
import type { ThreadRow } from "../wire.ts";
import { signOut } from "./session.ts";
import { applyTheme, currentTheme, type Theme } from "./theme.ts";

const PAGES = [
  { name: "chat", title: "Chat", href: "#/", operator: false },
  { name: "tools", title: "Tools", href: "#/tools", operator: false },
  { name: "jobs", title: "Jobs", href: "#/jobs", operator: false },
  { name: "memory", title: "Memory", href: "#/memory", operator: false },
  { name: "people", title: "People", href: "#/people", operator: true },
  { name: "webhooks", title: "Webhooks", href: "#/webhooks", operator: true },
  { name: "logs", title: "Logs", href: "#/logs", operator: true },
] as const;

export function Sidebar({ page }: { page: string }) {
  const { user, threads, thread, query, connected, status } = useApp();
  return (
    <aside
      class="side"
      aria-label="Threads and pages"
      onKeyDown={(event) => event.key === "Escape" && update({ isMenuOpen: false })}
    >
      <div class="brand">
        <img src="/icon.svg" alt="" /> Postern
      </div>
      <nav aria-label="Pages">
        {PAGES.filter(({ operator }) => !operator || user?.role === "operator").map(
          ({ name, title, href }) => (
            <a key={name} href={href} aria-current={page === name ? "page" : undefined}>
              {title}
            </a>
          ),
        )}
      </nav>
      <button type="button" class="primary" onClick={startNew}>
        New chat
      </button>
      <input
        type="search"
        placeholder="Search threads"
        aria-label="Search threads"
        value={query}
        onInput={(event) => void loadThreads(event.currentTarget.value)}
      />
      <ul class="threads" aria-label="Threads">
        {threads.map((row) => (
          <Thread key={row.id} row={row} isOpen={row.id === thread && page === "chat"} />
        ))}
        {threads.length === 0 && <li class="soft">{query ? "No thread matches." : "No threads yet."}</li>}
      </ul>
      <div class="foot">
        <span>{connected ? `${user?.name ?? user?.id} · ${status?.version ?? ""}` : "Reconnecting…"}</span>
        <ThemeChoice />
        <button type="button" class="plain" onClick={() => void signOut()}>
          Sign out
        </button>
      </div>
    </aside>
  );
}

function startNew(): void {
  void openThread(undefined);
  location.hash = "#/";
}

function Thread({ row, isOpen }: { row: ThreadRow; isOpen: boolean }) {
  const [isRenaming, setRenaming] = useState(false);
  if (isRenaming) return <Rename row={row} onDone={() => setRenaming(false)} />;
  return (
    <li class={isOpen ? "open" : ""}>
      <a href={`#/chat/${row.id}`} aria-current={isOpen ? "true" : undefined} title={row.title}>
        {row.gate && <span class="waits">waits · </span>}
        {row.title}
      </a>
      <button
        type="button"
        class="plain"
        aria-label={`Rename “${row.title}”`}
        onClick={() => setRenaming(true)}
      >
        ✎
      </button>
      <button
        type="button"
        class="plain danger"
        aria-label={`Delete “${row.title}”`}
        onClick={() => confirm(`Delete “${row.title}” and everything in it?`) && void remove(row.id)}
      >
        ✕
      </button>
    </li>
  );
}

function Rename({ row, onDone }: { row: ThreadRow; onDone(): void }) {
  const [title, setTitle] = useState(row.title);
  const submit = (event: Event) => {
    event.preventDefault();
    if (title.trim() && title !== row.title) void rename(row.id, title.trim());
    onDone();
  };
  return (
    <li>
      <form onSubmit={submit}>
        <input
          aria-label="New title"
          value={title}
          ref={(input) => input?.focus()}
          onInput={(event) => setTitle(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && onDone()}
          onBlur={onDone}
        />
      </form>
    </li>
  );
}

function ThemeChoice() {
  const [theme, setTheme] = useState(currentTheme);
  const choose = (chosen: Theme) => {
    applyTheme(chosen);
    setTheme(chosen);
  };
  return (
    <select aria-label="Theme" value={theme} onChange={(event) => choose(event.currentTarget.value as Theme)}>
      <option value="system">Auto</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </select>
  );
}
