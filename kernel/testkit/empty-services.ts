/** The services of the agent that the scripted one offers with nothing in them. */
import { Fault } from "../fault.ts";
import type { Services } from "../plugin.ts";
import type { Limiter } from "../vocabulary/store.ts";
import type { Figures } from "../vocabulary/usage.ts";

export const OPEN: Limiter = {
  take: async () => ({ ok: true, limit: 1000, windowSecs: 60, remaining: 1000, resetSecs: 1 }),
  peek: async () => ({ ok: true, limit: 1000, windowSecs: 60, remaining: 1000, resetSecs: 1 }),
};

export const NO_FIGURES: Figures = {
  total: { count: 0, failed: 0, inputTokens: 0, outputTokens: 0, usd: 0 },
  points: [],
  groups: [],
};

const NO_ROUTINES: Services["routines"] = {
  add: () => Promise.reject(new Fault("unavailable", "no_routines", "The scripted agent has no routines.")),
  list: async () => [],
  find: async () => undefined,
  change: async () => undefined,
  remove: async () => false,
  run: async () => undefined,
  runs: async () => ({ items: [] }),
  preview: (schedule, tz = "UTC") => ({ words: schedule, tz, firings: [] }),
  deliverBy: () => () => {},
};

const NO_ATTACHMENTS: Services["attachments"] = {
  limits: { fileBytes: 0, files: 0, messageBytes: 0 },
  add: async () => {
    throw new Fault("invalid", "file_too_large", "The scripted agent takes no files.");
  },
  read: async () => undefined,
  remove: async () => false,
  bring: async () => ({ attachments: [], attached: [], alongside: async () => {} }),
};

const unknownTool = (name: string) =>
  ({ status: "error", code: "unknown_tool", message: `There is no tool "${name}".` }) as const;

export const EMPTY_SERVICES = {
  attachments: NO_ATTACHMENTS,
  routines: NO_ROUTINES,
  memory: {
    search: async () => [],
    tree: async () => [],
    read: async () => undefined,
    write: async (_user, path) => ({ path, version: 1 }),
    remove: async () => false,
    history: async () => [],
    readVersion: async () => undefined,
    embed: async (texts) => texts.map(() => new Float32Array([1])),
  },
  skills: { list: async () => [], read: async () => undefined, problems: async () => [] },
  toolCalls: {
    list: async () => [],
    call: async ({ name }) => unknownTool(name),
    resume: async ({ name }) => unknownTool(name),
    isReserved: async () => false,
    names: async () => [],
    pending: async () => undefined,
  },
  identities: {
    account: async () => undefined,
    list: async () => [],
    pending: async () => [],
    pair: async () => {},
    unpair: async () => false,
    deny: async () => 0,
  },
  approvals: {
    remembered: async () => ({}),
    remember: async () => {},
    revoke: async () => false,
    pending: async () => [],
    pendingOfIdentities: async () => [],
  },
  destinations: {
    list: async () => [],
    add: async () => false,
    remove: async () => false,
  },
} satisfies Partial<Services>;
