/** The pages beside the chat, each loaded when it is opened. */
import Activity from "lucide/dist/esm/icons/activity.mjs";
import BookOpen from "lucide/dist/esm/icons/book-open.mjs";
import CalendarClock from "lucide/dist/esm/icons/calendar-clock.mjs";
import ChartColumn from "lucide/dist/esm/icons/chart-column.mjs";
import Folder from "lucide/dist/esm/icons/folder.mjs";
import MessagesSquare from "lucide/dist/esm/icons/messages-square.mjs";
import ScrollText from "lucide/dist/esm/icons/scroll-text.mjs";
import Settings from "lucide/dist/esm/icons/settings.mjs";
import Trash from "lucide/dist/esm/icons/trash.mjs";
import Users from "lucide/dist/esm/icons/users.mjs";
import Webhook from "lucide/dist/esm/icons/webhook.mjs";
import Wrench from "lucide/dist/esm/icons/wrench.mjs";
import type { ComponentType } from "preact";
import { text } from "../text/text.ts";
import type { IconShapes } from "../widgets/icon.tsx";

/** `shown` is the part of the address after the page's name. */
export type Page = ComponentType<{ readonly shown: string | undefined }>;

/**
 * Where the sidebar lists a page: "main" under the chats, "admin" in the operator's group, which others may not open, and "more" in
 * that group too, or in the user menu of everybody else. "own" is in the user menu of all.
 */
type PageGroup = "main" | "more" | "admin" | "own";

export interface PageEntry {
  readonly name: string;
  readonly title: string;
  readonly icon: IconShapes;
  readonly group: PageGroup;
  load(): Promise<Page>;
}

const entry = (
  name: Exclude<keyof typeof text.pages, "chat">,
  icon: IconShapes,
  load: () => Promise<Page>,
  group: PageGroup,
): PageEntry => ({ name, title: text.pages[name], icon, load, group });

export const PAGES: readonly PageEntry[] = [
  entry("tools", Wrench, async () => (await import("./tools/tools-page.tsx")).ToolsPage, "main"),
  entry("files", Folder, async () => (await import("./files/files-page.tsx")).FilesPage, "main"),
  entry("memory", BookOpen, async () => (await import("./memory/memory-page.tsx")).MemoryPage, "main"),
  entry(
    "routines",
    CalendarClock,
    async () => (await import("./routines/routines-page.tsx")).RoutinesPage,
    "main",
  ),
  entry("jobs", Activity, async () => (await import("./jobs/jobs-page.tsx")).JobsPage, "more"),
  entry("usage", ChartColumn, async () => (await import("./usage/usage-page.tsx")).UsagePage, "more"),
  entry("people", Users, async () => (await import("./people/people-page.tsx")).PeoplePage, "admin"),
  entry(
    "channels",
    MessagesSquare,
    async () => (await import("./channels/channels-page.tsx")).ChannelsPage,
    "admin",
  ),
  entry(
    "webhooks",
    Webhook,
    async () => (await import("./webhooks/webhooks-page.tsx")).WebhooksPage,
    "admin",
  ),
  entry(
    "settings",
    Settings,
    async () => (await import("./settings/settings-page.tsx")).SettingsPage,
    "admin",
  ),
  entry("logs", ScrollText, async () => (await import("./logs/logs-page.tsx")).LogsPage, "admin"),
  entry("bin", Trash, async () => (await import("./bin/bin-page.tsx")).BinPage, "own"),
];
