/** The user's threads: list, read, export, rename, pin, put into the bin and restore; and the models for them. */
import { Readable } from "node:stream";
import {
  missingFault,
  pageFields,
  pageQuery,
  type Route,
  routesOf,
  SCOPED_TOKEN,
} from "../../../kernel/kit/http.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import { ThreadSummary } from "../../../kernel/kit/turns.ts";
import type { Services, User } from "../../../kernel/plugin.ts";
import { BinnedThread, ContextUse } from "../wire.ts";
import { Models, ThreadWithTurns, WantedModel } from "./wire.ts";

const route = routesOf("threads");

const Through = Type.Optional(
  Type.String({
    description:
      "Only the turns that lead to this one and on to the newest after it; `newest`: to the newest of all",
  }),
);

const refusals = { 404: "There is no such thread" };

export function threadRoutes({ threads, agent }: Pick<Services, "threads" | "agent">): readonly Route[] {
  const find = async (user: User, id: string): Promise<ThreadSummary> => {
    const thread = await threads.find(user.id, id);
    if (!thread) throw missingFault("thread_not_found", `There is no thread ${id}.`, "id");
    return thread;
  };
  return [
    route("GET /api/threads", {
      summary:
        "List threads, pinned ones and then those last changed first; `q` searches titles and messages",
      query: Type.Object({
        q: Type.Optional(Type.String()),
        order: Type.Optional(
          Type.Enum(["pinned", "changed"], { description: "`changed`: pinned ones among the others" }),
        ),
        ...pageQuery,
      }),
      answer: Type.Object(pageFields("threads", ThreadSummary)),
      // The page sends an empty `q` for an empty search box.
      scoped: true,
      handle: ({ user, query: { q, order, ...query } }) =>
        threads.list(user.id, { ...query, q: q || undefined, pinnedFirst: order !== "changed" }),
    }),
    route("GET /api/threads/{id}", {
      summary: "Get a thread and its turns, oldest first; `next` leads to earlier ones",
      query: Type.Object({ ...pageQuery, through: Through }),
      answer: ThreadWithTurns,
      refusals: { 404: "There is no such thread, or no such turn on it" },
      scoped: true,
      async handle({ user, params, query }) {
        const thread = await find(user, params.id);
        return { thread, ...(await threads.turns(user.id, thread.id, query)) };
      },
    }),
    route("GET /api/threads/{id}/export", {
      summary:
        "Get a thread as a file: `markdown` to read, to the newest turn, or `json` with all of its turns as the API has them",
      query: Type.Object({ format: Type.Optional(Type.Enum(["markdown", "json"])), through: Through }),
      answer: "*/*",
      refusals: { 404: "There is no such thread, or no such turn on it" },
      scoped: true,
      async handle({ user, params, query: { format = "markdown", through }, context }) {
        const { name, mime, text } = await threads.export(user.id, params.id, format, through);
        context.attachment(name);
        context.type = mime;
        return Readable.from(text);
      },
    }),
    route("GET /api/threads/{id}/context", {
      summary:
        "Get how full the model's window is for the next message, what takes the room, and what it costs",
      query: Type.Object({
        after: Type.Optional(Type.String({ description: "The turn it would go on from" })),
      }),
      answer: ContextUse,
      refusals: { 404: "There is no such thread, or no such turn on it" },
      scoped: true,
      async handle({ user, params, query: { after } }) {
        const { id: thread } = await find(user, params.id);
        return await agent.contextOf({ user: user.id, channel: "gateway", thread, after, scope: user.scope });
      },
    }),
    route("PATCH /api/threads/{id}", {
      summary: "Rename a thread, pin it before the others, or choose its model; null is the configured one",
      body: Type.Object(
        {
          title: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
          pinned: Type.Optional(Type.Boolean()),
          model: Type.Optional(Type.Union([WantedModel, Type.Null()])),
        },
        { minProperties: 1 },
      ),
      answer: ThreadSummary,
      scoped: true,
      refusals: {
        ...refusals,
        403: "The token has a scope, and may not rename or pin, or may not use the model",
      },
      async handle({ user, params, body: { title, pinned, model } }) {
        const { id } = await find(user, params.id);
        if ((title !== undefined || pinned !== undefined) && user.scope) throw SCOPED_TOKEN;
        if (model !== undefined) await threads.setModel(user.id, id, model ?? undefined, user.scope);
        if (title !== undefined) await threads.rename(user.id, id, title);
        if (pinned !== undefined) await threads.pin(user.id, id, pinned);
        return await find(user, id);
      },
    }),
    route("GET /api/models", {
      summary: "List the models that may be chosen for a thread, the configured one first",
      answer: Models,
      scoped: true,
      handle: ({ user }) => agent.models(user.scope),
    }),
    route("DELETE /api/threads/{id}", {
      summary:
        "Put a thread into the bin for 30 days; with `now=true`, delete it and everything in it for good",
      query: Type.Object({
        now: Type.Optional(
          Type.Enum(["true", "false"], {
            description: "`true`: it cannot be restored; also for a thread that is in the bin",
          }),
        ),
      }),
      status: 204,
      refusals,
      async handle({ user, params: { id }, query: { now } }) {
        await (now === "true" ? threads.remove(user.id, id) : threads.bin(user.id, id));
      },
    }),
    route("GET /api/bin", {
      summary: "List the threads in the bin, what was put there last first",
      query: Type.Object(pageQuery),
      answer: Type.Object(pageFields("threads", BinnedThread)),
      handle: ({ user, query }) => threads.binned(user.id, query),
    }),
    route("POST /api/bin/{id}/restore", {
      summary: "Restore a thread from the bin",
      answer: ThreadSummary,
      refusals: { 404: "There is no such thread in the bin" },
      async handle({ user, params: { id } }) {
        await threads.restore(user.id, id);
        return await find(user, id);
      },
    }),
    route("DELETE /api/bin", {
      summary: "Empty the bin: delete all threads in it for good",
      answer: Type.Object({ deleted: Type.Integer() }),
      handle: async ({ user }) => ({ deleted: await threads.emptyBin(user.id) }),
    }),
  ];
}
