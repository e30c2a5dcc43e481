/** The port of the terminal over the API and the socket of a service elsewhere. The token says which user is meant. */
import { OPERATOR } from "../../kernel/kit/people.ts";
import { Fault } from "../../kernel/plugin.ts";
import type { JoinedService, Terminal, TerminalFiles } from "../tui/services.ts";
import { createConversations, createJobControl, createTaskControl, readTurn, readTurns } from "./commands.ts";
import type { Events } from "./events.ts";
import { encoded, orNone, type Requests } from "./requests.ts";
import * as wire from "./wire.ts";

/** What a service says of itself is read first, since the screen shows it at once. */
export async function createTerminal(
  requests: Requests,
  events: Events,
  joined: JoinedService,
): Promise<Terminal> {
  const { ask, tell } = requests;
  const readStatus = () => ask("GET /api/status", wire.Status);
  let [limits, status] = await Promise.all([ask("GET /api/attachments", wire.UploadLimits), readStatus()]);
  const conversations = createConversations(requests, events);
  const jobs = createJobControl(requests);
  const tasks = createTaskControl(requests);
  const pathOf = (thread: string) => `/api/threads/${encoded(thread)}` as const;
  return {
    version: status.version,
    plugins: () => status.channels.map((channel) => ({ ...channel, kind: "channel" as const })),
    joined,
    watch: events.watch,
    send: ({ text, attachments, thread, model }) =>
      ask("POST /api/chat/send", wire.Started, {
        body: { message: text, attachments, channel: "tui", thread_id: thread, model },
      }),
    answer({ gate, ...answer }) {
      const { type, ...body } = answer;
      const looked = type === "approval" ? { lookedMs: undefined, looked_ms: answer.lookedMs } : {};
      return ask(`POST /api/approvals/${encoded(gate)}`, wire.Started, { body: { ...body, ...looked } });
    },
    retry: (turn) => ask(`POST /api/turns/${encoded(turn)}/retry`, wire.Started),
    cancel: async (turn) => (await ask(`POST /api/turns/${encoded(turn)}/cancel`, wire.Cancelled)).cancelled,
    takeBack: async (turn) =>
      tell(`DELETE /api/turns/${encoded(turn)}`).then(
        () => true,
        (error) => {
          if (error instanceof Fault && error.kind !== "unavailable") return false;
          throw error;
        },
      ),
    threads: {
      list: (query) => conversations.list(OPERATOR, query),
      find: (thread) => conversations.find(OPERATOR, thread),
      turns: async (thread, limit) => (await readTurns(requests, thread, { limit, through: "newest" })).items,
      turn: (turn) => readTurn(requests, turn),
      contextOf: (thread) => ask(`GET ${pathOf(thread)}/context`, wire.ContextUse),
      export: (thread, format) => conversations.export(OPERATOR, thread, format),
      rename: (thread, title) => conversations.rename(OPERATOR, thread, title),
      setModel: (thread, model = undefined) =>
        tell(`PATCH ${pathOf(thread)}`, { body: { model: model ?? null } }),
      bin: (thread) => conversations.bin(OPERATOR, thread),
      binned: async (limit) => (await conversations.binned(OPERATOR, { limit })).items,
      restore: (thread) => conversations.restore(OPERATOR, thread),
      emptyBin: () => conversations.emptyBin(OPERATOR),
      remove: (thread) => conversations.remove(OPERATOR, thread),
    },
    uploads: {
      limits,
      add({ name, data }) {
        const form = new FormData();
        form.set("file", new Blob([new Uint8Array(data)]), name);
        return ask("POST /api/attachments", wire.Upload, { form });
      },
      remove: async (id) =>
        (await orNone(tell(`DELETE /api/attachments/${encoded(id)}`).then(() => true))) ?? false,
    },
    model: () => status.model,
    models: () => ask("GET /api/models", wire.Models),
    tools: async () => (await ask("GET /api/tools", wire.Tools)).items,
    jobs: {
      async counts() {
        status = await readStatus();
        return status.jobs;
      },
      list: async (limit) => (await jobs.list({ limit })).items,
    },
    tasks: { list: (thread) => tasks.list({ thread }), cancel: tasks.cancel },
    memory: {
      search: async (q, limit) =>
        (await ask("GET /api/memory", wire.MemoryHits, { query: { q, limit } })).items,
      list: async () => (await ask("GET /api/memory", wire.MemoryFiles)).items,
    },
    files: createFiles(requests),
  };
}

function createFiles({ ask, download }: Requests): TerminalFiles {
  const find = (path: string) => orNone(ask("GET /api/workspace/entry", wire.File, { query: { path } }));
  return {
    list: (folder, query) => ask("GET /api/workspace", wire.Files, { query: { folder, ...query } }),
    find,
    attach: (path) => ask("POST /api/workspace/attach", wire.Upload, { body: { path } }),
    async read(path, length) {
      const entry = await find(path);
      const answer = entry && (await orNone(download("/api/workspace/file", { path })));
      return answer && { entry, data: await beginningOf(answer, length) };
    },
    log: async (limit) => (await ask("GET /api/workspace/log", wire.FileLog, { query: { limit } })).items,
    undo: (set, { conflicts }) =>
      ask("POST /api/workspace/undo", wire.Undone, { body: { set_id: set, conflicts } }),
    usage: () => ask("GET /api/workspace/usage", wire.FilesUsage),
  };
}

/** The rest is not sent on. */
async function beginningOf({ body }: Response, length: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let read = 0;
  for await (const piece of body ?? []) {
    pieces.push(piece);
    read += piece.byteLength;
    if (read >= length) break;
  }
  const all = Buffer.concat(pieces);
  return all.subarray(0, Math.min(length, all.byteLength));
}
