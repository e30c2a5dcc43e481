/** The services that the terminal uses, as the gateway of a service elsewhere offers them. The token says which user is meant. */
import { cleanFileName } from "../../kernel/kit/files.ts";
import { Job, Routine, RoutinePreview, RoutineRun, Task } from "../../kernel/kit/jobs.ts";
import { MemoryEntry, MemoryHit } from "../../kernel/kit/memory.ts";
import { OPERATOR } from "../../kernel/kit/people.ts";
import { type Declared, Type, toWire } from "../../kernel/kit/schema.ts";
import { ToolInfo } from "../../kernel/kit/tools.ts";
import { ThreadSummary as Thread, type ThreadSummary, TurnRecord } from "../../kernel/kit/turns.ts";
import type { Services, TurnInput } from "../../kernel/plugin.ts";
import type { RunningTurn, Turn, Upload as Uploaded } from "../agent/services.ts";
import {
  Accepted,
  Answer,
  AttachmentLimits,
  ContextUse,
  Message,
  Models,
  NewRoutine,
  page,
  RoutineChange,
  Status,
  ThreadWithTurns,
  Upload,
  UsageAnswer,
} from "../gateway/api/schemas.ts";
import type { Remote } from "../gateway/services.ts";
import type { Events } from "./events.ts";
import { followTurn } from "./remote-turn.ts";
import { createRemoteWorkspace } from "./remote-workspace.ts";
import { orNone, type Requests } from "./requests.ts";

export const OFFERED = [
  ...(["agent", "threads", "attachments", "tools", "jobs", "tasks", "memory", "workspace"] as const),
  ...(["conversations", "jobControl", "taskControl", "routineControl"] as const),
];
type Offered = (typeof OFFERED)[number];
/** The methods of a service that are offered here. */
type Part<Name extends Offered> = Partial<Services[Name]>;

const Threads = page("threads", Thread);
const Jobs = page("jobs", Job);
const Tasks = Type.Object({ tasks: Type.Array(Task) });
const Tools = Type.Object({ tools: Type.Array(ToolInfo) });
const Hits = Type.Object({ results: Type.Array(MemoryHit) });
const Files = Type.Object({ results: Type.Array(MemoryEntry) });
const Cancelled = Type.Object({ cancelled: Type.Boolean() });
const Routines = Type.Object({ routines: Type.Array(Routine) });
const Runs = page("runs", RoutineRun);

const encoded = encodeURIComponent;

/** What the terminal shows of the service, and commands do not need. */
export type Seen = Awaited<ReturnType<typeof lookAt>>;

export async function lookAt({ ask }: Requests) {
  const [limits, status] = await Promise.all([
    ask("GET /api/attachments", AttachmentLimits),
    ask("GET /api/status", Status),
  ]);
  return { limits, status };
}

const NOTHING_SEEN: Pick<Seen, "limits"> & {
  readonly status: Pick<Seen["status"], "model" | "channels" | "jobs">;
} = {
  limits: { fileBytes: 0, files: 0, messageBytes: 0 },
  status: { model: { provider: "", name: "" }, channels: [], jobs: { queued: 0, running: 0 } },
};

export function createRemoteServices(requests: Requests, events: Events, seen?: Seen) {
  const { ask, tell } = requests;
  const { limits } = seen ?? NOTHING_SEEN;
  let { status } = seen ?? NOTHING_SEEN;
  const uploads = new Map<string, Uploaded>();
  /** Who it is of does not cross the wire: nobody sees another's. */
  const owned = (turn: Declared<typeof TurnRecord>): TurnRecord => ({ ...turn, user: OPERATOR });

  const start = (turn: Turn): Promise<Declared<typeof Accepted>> => {
    const { input, thread, after, model } = turn;
    const channel = turn.channel === "ask" ? ("ask" as const) : ("tui" as const);
    if (input.type !== "message") return answerGate(input);
    const attachments = input.attachments?.map(({ id }) => id);
    const message = { message: input.text, attachments, channel, thread, after, model };
    return ask("POST /api/chat/send", Accepted, { body: toWire(Message, message) });
  };
  const answerGate = (input: TurnInput): Promise<Declared<typeof Accepted>> => {
    if (!("gate" in input)) throw new Error(`the terminal sends no ${input.type}`);
    const body = toWire(Answer, input);
    return ask(`POST /api/approvals/${encoded(input.gate)}`, Accepted, { body });
  };

  const cancel = async (turn: string): Promise<boolean> =>
    (await ask(`POST /api/turns/${encoded(turn)}/cancel`, Cancelled)).cancelled;

  const follow = ({ id, thread }: Pick<RunningTurn, "id" | "thread">): RunningTurn => {
    const read = () => threads.turn(OPERATOR, id);
    return followTurn({ id, thread, events, read, cancel: () => cancel(id) });
  };

  const agent: Part<"agent"> = {
    async run(turn) {
      await events.open();
      return follow(await events.whileHeld(() => start(turn)));
    },
    watch: events.watch,
    cancel: (_user, turn) => cancel(turn),
    model: () => status.model,
    models: () => ask("GET /api/models", Models),
    contextOf: ({ thread }) => ask(`GET /api/threads/${encoded(thread)}/context`, ContextUse),
  };

  const threads = {
    list: (_user, { pinnedFirst = false, ...query } = {}) =>
      ask("GET /api/threads", Threads, { query: { ...query, order: pinnedFirst ? "pinned" : "changed" } }),
    find: async (_user, thread): Promise<ThreadSummary | undefined> =>
      (await orNone(ask(`GET /api/threads/${encoded(thread)}`, ThreadWithTurns, { query: { limit: 1 } })))
        ?.thread,
    async turns(_user, thread, query = {}) {
      const found = await ask(`GET /api/threads/${encoded(thread)}`, ThreadWithTurns, {
        query: { ...query },
      });
      return { ...found, items: found.items.map(owned) };
    },
    async turn(_user, turn) {
      const found = await orNone(ask(`GET /api/turns/${encoded(turn)}`, TurnRecord));
      return found && owned(found);
    },
    async export(_user, thread, format, through) {
      const path = `/api/threads/${encoded(thread)}/export`;
      const answer = await requests.download(path, { format, through });
      return {
        name: fileNameIn(answer.headers.get("content-disposition") ?? "", format),
        mime: answer.headers.get("content-type") ?? "",
        text: (answer.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream()),
      };
    },
    rename: (_user, thread, title) => tell(`PATCH /api/threads/${encoded(thread)}`, { body: { title } }),
    setModel: (_user, thread, model = undefined) =>
      tell(`PATCH /api/threads/${encoded(thread)}`, { body: { model: model ?? null } }),
    remove: (_user, thread) => tell(`DELETE /api/threads/${encoded(thread)}`),
  } satisfies Part<"threads">;

  const conversations: Services["conversations"] = {
    ...threads,
    async ask(text, thread) {
      const input = { type: "message", text } as const;
      await events.open();
      const started = await events.whileHeld(() => start({ user: OPERATOR, channel: "ask", input, thread }));
      return follow(started);
    },
    async usage({ spans, by, user }) {
      const { turns, calls, storage } = await ask("GET /api/usage", UsageAnswer, {
        query: { from: spans[0]?.since, to: spans.at(-1)?.until, step: "day", by, user },
      });
      return { figures: by === "tool" ? calls : turns, storage };
    },
  };

  const attachments: Part<"attachments"> = {
    limits,
    async add(_user, { name, data }) {
      const form = new FormData();
      form.set("file", new Blob([new Uint8Array(data)]), name);
      const upload = await ask("POST /api/attachments", Upload, { form });
      uploads.set(upload.id, upload);
      return upload;
    },
    async remove(_user, id) {
      uploads.delete(id);
      const removed = tell(`DELETE /api/attachments/${encoded(id)}`).then(() => true);
      return (await orNone(removed)) ?? false;
    },
    // The service has the files already: a message only names them.
    async bring(_user, ids) {
      const found = ids.flatMap((id) => uploads.get(id) ?? []);
      return { attachments: found, attached: [], alongside: async () => {} };
    },
  };

  const tools: Part<"tools"> = { list: async () => (await ask("GET /api/tools", Tools)).tools };
  const routinePath = (id: string) => `/api/routines/${encoded(id)}` as const;
  const routineControl: Services["routineControl"] = {
    add: ({ user, ...given }) =>
      ask("POST /api/routines", Routine, {
        body: toWire(NewRoutine, user === OPERATOR ? given : { ...given, user }),
      }),
    list: async (user) => (await ask("GET /api/routines", Routines, { query: { user } })).routines,
    find: (id) => orNone(ask(`GET ${routinePath(id)}`, Routine)),
    change: (id, change) =>
      orNone(ask(`PATCH ${routinePath(id)}`, Routine, { body: toWire(RoutineChange, change) })),
    remove: async (id) => (await orNone(tell(`DELETE ${routinePath(id)}`).then(() => true))) ?? false,
    run: (id) => orNone(ask(`POST ${routinePath(id)}/run`, RoutineRun)),
    runs: (id, query = {}) => ask(`GET ${routinePath(id)}/runs`, Runs, { query: { ...query } }),
    preview: (schedule, tz) => ask("GET /api/routines/preview", RoutinePreview, { query: { schedule, tz } }),
  };
  const jobPath = (id: string) => `/api/jobs/${encoded(id)}` as const;
  const jobs: Services["jobControl"] & Part<"jobs"> = {
    async counts() {
      status = await ask("GET /api/status", Status);
      return status.jobs;
    },
    list: (query = {}) => ask("GET /api/jobs", Jobs, { query: { ...query } }),
    find: (id) => orNone(ask(`GET ${jobPath(id)}`, Job)),
    cancel: (id) => orNone(ask(`POST ${jobPath(id)}/cancel`, Job)),
    retry: (id) => orNone(ask(`POST ${jobPath(id)}/retry`, Job)),
  };
  const tasks: Services["taskControl"] = {
    list: async (query = {}) => (await ask("GET /api/tasks", Tasks, { query: { ...query } })).tasks,
    cancel: (id) => orNone(ask(`POST /api/tasks/${encoded(id)}/cancel`, Task)),
  };
  const memory: Part<"memory"> = {
    search: async (_user, q, limit) => (await ask("GET /api/memory", Hits, { query: { q, limit } })).results,
    tree: async () => (await ask("GET /api/memory", Files)).results,
  };
  const remote: Pick<Remote, "plugins" | "retry"> = {
    plugins: () => status.channels.map((channel) => ({ ...channel, kind: "channel" as const })),
    retry: (turn) => events.whileHeld(() => ask(`POST /api/turns/${encoded(turn)}/retry`, Accepted)),
  };
  const workspace = createRemoteWorkspace(requests);
  const offered = {
    agent,
    threads,
    attachments,
    tools,
    jobs,
    jobControl: jobs,
    tasks,
    taskControl: tasks,
    routineControl,
    conversations,
    memory,
    workspace,
  };
  // The terminal and the commands that join a service use no more of them.
  return { ...(offered as unknown as Pick<Services, Offered>), remote };
}

/** A stranger may have chosen it: it is a name in the folder that the person chose, and nothing else. */
function fileNameIn(disposition: string, format: string): string {
  const [, quoted] = /filename="((?:[^"\\]|\\.)*)"/.exec(disposition) ?? [];
  const [, plain] = /filename=([^\s;"]+)/.exec(disposition) ?? [];
  const [, utf8] = /filename\*=UTF-8''([^\s;]+)/i.exec(disposition) ?? [];
  return cleanFileName(
    decode(utf8) ??
      quoted?.replaceAll(/\\(.)/g, "$1") ??
      plain ??
      (format === "json" ? "thread.json" : "thread.md"),
  );
}

function decode(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
