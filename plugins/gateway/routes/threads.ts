/** The user's conversations. */
import { Fault, type ThreadSummary, type Threads, type User } from "../../../kernel/plugin.ts";
import { list, object, page, pageQuery, ref } from "../api/schemas.ts";
import { pageJson, threadJson, turnJson } from "../api/wire.ts";
import { type Route, route } from "../route.ts";

interface PageQuery {
  readonly limit?: number;
  readonly before?: string;
}

const refusals = { 404: "There is no such thread" };

export function threadRoutes(threads: Threads): readonly Route[] {
  const find = (user: User, id: string | undefined): ThreadSummary => {
    const thread = threads.find(user.id, id ?? "");
    if (!thread) throw new Fault("missing", "thread_not_found", `There is no thread ${id}.`, { param: "id" });
    return thread;
  };
  return [
    route<unknown, PageQuery & { q?: string }>({
      method: "get",
      path: "/api/threads",
      tag: "threads",
      summary: "Threads, the one changed last first; `q` searches titles and messages",
      query: { q: { type: "string" }, ...pageQuery },
      answer: page("threads", ref("Thread")),
      // An empty search box is no search.
      handle: ({ user, query: { q, ...query } }) =>
        pageJson("threads", threads.list(user.id, q ? { q, ...query } : query), threadJson),
    }),
    route<unknown, PageQuery>({
      method: "get",
      path: "/api/threads/{id}",
      tag: "threads",
      summary: "A thread and its turns, oldest first; `next` leads to earlier ones",
      query: pageQuery,
      answer: object({
        thread: ref("Thread"),
        turns: list(ref("Turn")),
        next: { type: ["string", "null"] },
      }),
      refusals,
      handle({ user, params, query }) {
        const thread = find(user, params["id"]);
        return {
          thread: threadJson(thread),
          ...pageJson("turns", threads.turns(user.id, thread.id, query), turnJson),
        };
      },
    }),
    route<{ title: string }>({
      method: "patch",
      path: "/api/threads/{id}",
      tag: "threads",
      summary: "Rename a thread",
      body: {
        type: "object",
        required: ["title"],
        properties: { title: { type: "string", minLength: 1, maxLength: 1000 } },
      },
      answer: ref("Thread"),
      refusals,
      handle({ user, params, body }) {
        const { id } = find(user, params["id"]);
        threads.rename(user.id, id, body.title);
        return threadJson(find(user, id));
      },
    }),
    route({
      method: "delete",
      path: "/api/threads/{id}",
      tag: "threads",
      summary: "Delete a thread with everything in it",
      status: 204,
      refusals,
      handle: ({ user, params }) => threads.remove(user.id, find(user, params["id"]).id),
    }),
  ];
}
