import Command from "lucide/dist/esm/icons/command.mjs";
import MessageCircle from "lucide/dist/esm/icons/message-circle.mjs";
import PanelLeft from "lucide/dist/esm/icons/panel-left.mjs";
import SquarePen from "lucide/dist/esm/icons/square-pen.mjs";
import { PAGES, type PageEntry } from "../../pages/pages.tsx";
import { update } from "../../state/app.ts";
import { toggleSidebar } from "../../state/sidebar.ts";
import { loadThreads } from "../../state/threads.ts";
import { useApp } from "../../state/use-app.ts";
import { text } from "../../text/text.ts";
import { Button, SearchBox } from "../../widgets/controls.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { ADMIN, isOfAdmin } from "../admin.tsx";
import { openPalette, startChat } from "../commands/commands.tsx";
import { ThreadList } from "./thread-list.tsx";
import { UserMenu } from "./user-menu.tsx";

const MAIN = [
  { name: "chat", title: text.pages.chat, icon: MessageCircle },
  ...PAGES.filter(({ group }) => group === "main"),
];

/** The chats come first; the other pages are below them, the operator's behind one link. */
export function Sidebar({ page }: { page: string }) {
  const { user, thread, query } = useApp();
  return (
    <aside
      class="side"
      aria-label={text.frame.sidebar}
      onKeyDown={(event) => event.key === "Escape" && update({ isMenuOpen: false })}
    >
      <div class="brand">
        <img src="/icon.svg" alt="" width="24" height="24" />
        <b>Postern</b>
        <Button label={text.frame.palette} icon={Command} isIconOnly onClick={openPalette} />
        <Button label={text.frame.hideSidebar} icon={PanelLeft} isIconOnly onClick={toggleSidebar} />
      </div>
      <Button label={text.frame.newChat} icon={SquarePen} class="new-chat" onClick={startChat} />
      <SearchBox label={text.frame.searchThreads} value={query} onText={loadThreads} />
      <ThreadList shown={page === "chat" ? thread : undefined} />
      <nav class="pages" aria-label={text.frame.pages}>
        <PageLinks entries={MAIN} page={page} />
        {user?.role === "operator" && (
          <PageLinks entries={[ADMIN]} page={isOfAdmin(page) ? ADMIN.name : page} />
        )}
      </nav>
      <UserMenu />
    </aside>
  );
}

type LinkEntry = Pick<PageEntry, "name" | "title" | "icon">;

function PageLinks({ entries, page }: { entries: readonly LinkEntry[]; page: string }) {
  return (
    <>
      {entries.map(({ name, title, icon }) => (
        <a
          key={name}
          href={name === "chat" ? "#/" : `#/${name}`}
          aria-current={page === name ? "page" : undefined}
        >
          <Icon of={icon} />
          {title}
        </a>
      ))}
    </>
  );
}
