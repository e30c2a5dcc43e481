/** The pages beside the chat, each loaded when it is opened. */
import type { ComponentType } from "preact";

export interface PageEntry {
  readonly name: string;
  readonly title: string;
  readonly operator: boolean;
  /** `shown` is the part of the address after the page's name. */
  load(): Promise<ComponentType<{ readonly shown: string | undefined }>>;
}

export const PAGES: readonly PageEntry[] = [
  {
    name: "tools",
    title: "Tools",
    operator: false,
    load: async () => (await import("./tools/tools-page.tsx")).ToolsPage,
  },
  {
    name: "jobs",
    title: "Jobs",
    operator: false,
    load: async () => (await import("./jobs/jobs-page.tsx")).JobsPage,
  },
  {
    name: "routines",
    title: "Routines",
    operator: false,
    load: async () => (await import("./routines/routines-page.tsx")).RoutinesPage,
  },
  {
    name: "memory",
    title: "Memory",
    operator: false,
    load: async () => (await import("./memory/memory-page.tsx")).MemoryPage,
  },
  {
    name: "usage",
    title: "Usage",
    operator: false,
    load: async () => (await import("./usage/usage-page.tsx")).UsagePage,
  },
  {
    name: "people",
    title: "People",
    operator: true,
    load: async () => (await import("./people/people-page.tsx")).PeoplePage,
  },
  {
    name: "webhooks",
    title: "Webhooks",
    operator: true,
    load: async () => (await import("./webhooks/webhooks-page.tsx")).WebhooksPage,
  },
  {
    name: "logs",
    title: "Logs",
    operator: true,
    load: async () => (await import("./logs/logs-page.tsx")).LogsPage,
  },
  {
    name: "settings",
    title: "Settings",
    operator: true,
    load: async () => (await import("./settings/settings-page.tsx")).SettingsPage,
  },
];
