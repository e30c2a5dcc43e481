import { useState } from "preact/hooks";
import { PAGES } from "../../pages/pages.tsx";
import { update } from "../../state/app.ts";
import { canNotify, isNotifying, switchNotifications } from "../../state/notifications.ts";
import { loadThreads } from "../../state/threads.ts";
import { useApp } from "../../state/use-app.ts";
import { ThemeChoice } from "../../widgets/theme.tsx";
import { openPalette, openSheet, startChat } from "../commands/commands.tsx";
import { signOut } from "../session.ts";
import { ThreadList } from "./thread-list.tsx";

const LINKS = [{ name: "chat", title: "Chat", operator: false }, ...PAGES];

export function Sidebar({ page }: { page: string }) {
  const { user, thread, query, connected, status } = useApp();
  return (
    <aside
      class="side"
      aria-label="Threads and pages"
      onKeyDown={(event) => event.key === "Escape" && update({ isMenuOpen: false })}
    >
      <div class="brand">
        <img src="/icon.svg" alt="" /> Postern
        <span>
          <Notifications />
          <button type="button" class="plain" aria-label="Command palette" onClick={openPalette}>
            ⌘
          </button>
          <button type="button" class="plain" aria-label="Keyboard shortcuts" onClick={openSheet}>
            ?
          </button>
        </span>
      </div>
      <nav aria-label="Pages">
        {LINKS.filter(({ operator }) => !operator || user?.role === "operator").map(({ name, title }) => (
          <a
            key={name}
            href={name === "chat" ? "#/" : `#/${name}`}
            aria-current={page === name ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <button type="button" class="primary" onClick={startChat}>
        New chat
      </button>
      <input
        type="search"
        placeholder="Search threads"
        aria-label="Search threads"
        dir="auto"
        value={query}
        onInput={(event) => void loadThreads(event.currentTarget.value)}
      />
      <ThreadList shown={page === "chat" ? thread : undefined} />
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

/** The browser asks for permission only when this is pressed. */
function Notifications() {
  const [isOn, setOn] = useState(isNotifying);
  if (!canNotify()) return null;
  const words = "Notify me when a long answer ends or Postern waits for me, while I am elsewhere";
  return (
    <button
      type="button"
      class="plain bell"
      aria-pressed={isOn}
      aria-label="Notifications"
      title={words}
      onClick={async () => setOn(await switchNotifications(!isOn))}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d="M8 1.5a4 4 0 0 0-4 4c0 4-1.5 5.5-1.5 5.5h11S12 9.500 12 5.500a4 4 0 0 0-4-4zM6.500 13a1.600 1.600 0 0 0 3 0" />
        {!isOn && <path d="M2 2l12 12" />}
      </svg>
    </button>
  );
}
