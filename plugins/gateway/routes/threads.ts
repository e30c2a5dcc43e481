/** The user's conversations. */
import { Fault, type Threads, type User } from "../../../kernel/plugin.ts";
import { sniffImage } from "../../../kernel/vocabulary/file-type.ts";
import { ThreadSummary } from "../../../kernel/vocabulary/thread.ts";
import { TurnRecord } from "../../../kernel/vocabulary/turn.ts";
import { Type } from "../../../kernel/vocabulary/wire/type.ts";
import { page, pageOf, pageQuery } from "../api/schemas.ts";
import { type Route, route } from "../route.ts";

const WithTurns = Type.Object({ thread: ThreadSummary, ...pageOf("turns", TurnRecord) });

const refusals = { 404: "There is no such thread" };

export function threadRoutes(threads: Threads): readonly Route[] {
  const find = async (user: User, id: string | undefined): Promise<ThreadSummary> => {
    const thread = await threads.find(user.id, id ?? "");
    if (!thread) throw new Fault("missing", "thread_not_found", `There is no thread ${id}.`, { param: "id" });
    return thread;
  };
  return [
    route({
      method: "get",
      path: "/api/threads",
      tag: "threads",
      summary: "List threads, last changed first; `q` searches titles and messages",
      query: Type.Object({ q: Type.Optional(Type.String()), ...pageQuery }),
      answer: page("threads", ThreadSummary),
      // An empty search box is no search.
      handle: ({ user, query: { q, ...query } }) => threads.list(user.id, q ? { q, ...query } : query),
    }),
    route({
      method: "get",
      path: "/api/threads/{id}",
      tag: "threads",
      summary: "Get a thread and its turns, oldest first; `next` leads to earlier ones",
      query: Type.Object(pageQuery),
      answer: WithTurns,
      refusals,
      async handle({ user, params, query }) {
        const thread = await find(user, params["id"]);
        return { thread, ...(await threads.turns(user.id, thread.id, query)) };
      },
    }),
    route({
      method: "patch",
      path: "/api/threads/{id}",
      tag: "threads",
      summary: "Rename a thread",
      body: Type.Object({ title: Type.String({ minLength: 1, maxLength: 1000 }) }),
      answer: ThreadSummary,
      refusals,
      async handle({ user, params, body }) {
        const { id } = await find(user, params["id"]);
        await threads.rename(user.id, id, body.title);
        return await find(user, id);
      },
    }),
    route({
      method: "delete",
      path: "/api/threads/{id}",
      tag: "threads",
      summary: "Delete a thread and everything in it",
      status: 204,
      refusals,
      async handle({ user, params }) {
        const { id } = await find(user, params["id"]);
        await threads.remove(user.id, id);
      },
    }),
    route({
      method: "get",
      path: "/api/attachments/{id}",
      tag: "threads",
      summary:
        "Get what came with a message or a tool's result, by its id there; only images are shown as what they are",
      answer: "*/*",
      refusals: { 404: "There is no such attachment" },
      async handle({ user, params, context }) {
        const found = await threads.attachment(user.id, params["id"] ?? "");
        if (!found)
          throw new Fault("missing", "attachment_not_found", "There is no such attachment.", { param: "id" });
        const image = sniffImage(found.data);
        context.type = image ?? "application/octet-stream";
        if (image === undefined) context.attachment(found.name);
        // It never changes under its id.
        context.set("Cache-Control", "private, max-age=3600, immutable");
        return Buffer.from(found.data);
      },
    }),
  ];
}
