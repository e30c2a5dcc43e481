/** The services of commands that join a service elsewhere. */
import { cleanFileName } from "../../kernel/kit/files.ts";
import { Task } from "../../kernel/kit/jobs.ts";
import { OPERATOR } from "../../kernel/kit/people.ts";
import { TurnRecord } from "../../kernel/kit/turns.ts";
import type { Services } from "../../kernel/plugin.ts";
import type { Events } from "./events.ts";
import { followTurn } from "./remote-turn.ts";
import { encoded, orNone, type Requests } from "./requests.ts";
import * as wire from "./wire.ts";

export function createConversations(requests: Requests, events: Events): Services["conversations"] {
  const { ask, tell, download } = requests;
  const pathOf = (thread: string) => `/api/threads/${encoded(thread)}` as const;
  return {
    async ask(message, thread) {
      await events.open();
      const body = { message, channel: "ask", thread_id: thread };
      return await followTurn({
        events,
        start: () => ask("POST /api/chat/send", wire.Started, { body }),
        read: (turn) => readTurn(requests, turn),
        cancel: (turn) => tell(`POST /api/turns/${encoded(turn)}/cancel`),
      });
    },
    list: (_user, { pinnedFirst = false, ...query } = {}) =>
      ask("GET /api/threads", wire.Threads, {
        query: { ...query, order: pinnedFirst ? "pinned" : "changed" },
      }),
    find: async (_user, thread) =>
      (await orNone(ask(`GET ${pathOf(thread)}`, wire.Thread, { query: { limit: 1 } })))?.thread,
    turns: (_user, thread, query) => readTurns(requests, thread, query),
    async export(_user, thread, format, through) {
      const { headers, body } = await download(`${pathOf(thread)}/export`, { format, through });
      return {
        name: fileNameIn(headers.get("content-disposition") ?? "", format === "json" ? ".json" : ".md"),
        mime: headers.get("content-type") ?? "",
        text: (body ?? new Blob().stream()).pipeThrough(new TextDecoderStream()),
      };
    },
    rename: (_user, thread, title) => tell(`PATCH ${pathOf(thread)}`, { body: { title } }),
    bin: (_user, thread) => tell(`DELETE ${pathOf(thread)}`),
    binned: (_user, query) => ask("GET /api/bin", wire.BinnedThreads, { query: { ...query } }),
    restore: (_user, thread) => tell(`POST /api/bin/${encoded(thread)}/restore`),
    emptyBin: async () => (await ask("DELETE /api/bin", wire.EmptiedBin)).deleted,
    remove: (_user, thread) => tell(`DELETE ${pathOf(thread)}`, { query: { now: "true" } }),
    async usage({ spans, by, user }) {
      const { turns, calls, ...rest } = await ask("GET /api/usage", wire.Usage, {
        query: { from: spans[0]?.since, to: spans.at(-1)?.until, step: "day", by, user },
      });
      return { figures: by === "tool" ? calls : turns, ...rest };
    },
  };
}

/** Whose turn it is does not cross the wire: nobody sees another's. */
const owned = (turn: TurnRecord): TurnRecord => ({ ...turn, user: OPERATOR });

export async function readTurn({ ask }: Requests, turn: string): Promise<TurnRecord | undefined> {
  const found = await orNone(ask(`GET /api/turns/${encoded(turn)}`, TurnRecord));
  return found && owned(found);
}

export async function readTurns(
  { ask }: Requests,
  thread: string,
  query: { readonly limit: number; readonly through?: string },
) {
  const { items, next } = await ask(`GET /api/threads/${encoded(thread)}`, wire.Turns, {
    query: { ...query },
  });
  return { items: items.map(owned), next };
}

export function createJobControl({ ask }: Requests): Services["jobControl"] {
  const pathOf = (id: string) => `/api/jobs/${encoded(id)}` as const;
  return {
    list: (query = {}) => ask("GET /api/jobs", wire.Jobs, { query: { ...query } }),
    find: (id) => orNone(ask(`GET ${pathOf(id)}`, wire.Job)),
    cancel: (id) => orNone(ask(`POST ${pathOf(id)}/cancel`, wire.Job)),
    retry: (id) => orNone(ask(`POST ${pathOf(id)}/retry`, wire.Job)),
  };
}

export function createTaskControl({ ask }: Requests): Services["taskControl"] {
  return {
    list: async (query = {}) => (await ask("GET /api/tasks", wire.Tasks, { query: { ...query } })).items,
    cancel: (id) => orNone(ask(`POST /api/tasks/${encoded(id)}/cancel`, Task)),
  };
}

export function createRoutineControl({ ask, tell }: Requests): Services["routineControl"] {
  const pathOf = (id: string) => `/api/routines/${encoded(id)}` as const;
  return {
    add: ({ user, timeoutSecs, ...given }) =>
      ask("POST /api/routines", wire.Routine, {
        body: { ...given, timeout_secs: timeoutSecs, ...(user !== OPERATOR && { user }) },
      }),
    list: async (user) => (await ask("GET /api/routines", wire.Routines, { query: { user } })).items,
    find: (id) => orNone(ask(`GET ${pathOf(id)}`, wire.Routine)),
    change: (id, { timeoutSecs, ...change }) =>
      orNone(ask(`PATCH ${pathOf(id)}`, wire.Routine, { body: { ...change, timeout_secs: timeoutSecs } })),
    remove: async (id) => (await orNone(tell(`DELETE ${pathOf(id)}`).then(() => true))) ?? false,
    run: (id) => orNone(ask(`POST ${pathOf(id)}/run`, wire.RoutineRun)),
    runs: (id, query = {}) => ask(`GET ${pathOf(id)}/runs`, wire.RoutineRuns, { query: { ...query } }),
    preview: (schedule, tz) =>
      ask("GET /api/routines/preview", wire.RoutinePreview, { query: { schedule, tz } }),
  };
}

/** A stranger may have chosen it: it is a name in the folder that the person chose, and not that of a file such as .bashrc. */
function fileNameIn(disposition: string, extension: string): string {
  const [, quoted] = /filename="((?:[^"\\]|\\.)*)"/.exec(disposition) ?? [];
  const [, plain] = /filename=([^\s;"]+)/.exec(disposition) ?? [];
  const [, utf8] = /filename\*=UTF-8''([^\s;]+)/i.exec(disposition) ?? [];
  const name = cleanFileName(decode(utf8) ?? quoted?.replaceAll(/\\(.)/g, "$1") ?? plain ?? "");
  return name.endsWith(extension) && !name.startsWith(".") ? name : `thread${extension}`;
}

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
