/** What the agent keeps for this user: searched, read and edited. */
import { Fault, type Memory } from "../../../kernel/plugin.ts";
import { list, object, text, time, whole } from "../api/schemas.ts";
import { type Route, route } from "../route.ts";

const path = { type: "string", minLength: 1, maxLength: 500 };
const refusals = { 404: "There is no such file" };

export function memoryRoutes(memory: Memory): readonly Route[] {
  const missing = (name: string) =>
    new Fault("missing", "memory_not_found", `There is no ${name} in memory.`, { param: "path" });
  return [
    route<unknown, { q?: string; limit?: number }>({
      method: "get",
      path: "/api/memory",
      tag: "memory",
      summary: "Search memory; without `q` everything that is there",
      query: { q: { type: "string" }, limit: { type: "integer", minimum: 1, maximum: 100 } },
      answer: object({
        results: list(
          object(
            { path: text, snippet: text, score: { type: "number" }, updated_at: time },
            { bytes: whole },
          ),
        ),
      }),
      async handle({ user, query: { q, limit } }) {
        if (q)
          return {
            results: (await memory.search(user.id, q, limit)).map(({ updatedAt, ...hit }) => ({
              ...hit,
              updated_at: updatedAt,
            })),
          };
        return {
          results: memory
            .tree(user.id)
            .slice(0, limit)
            .map(({ updatedAt, ...file }) => ({ ...file, snippet: "", score: 0, updated_at: updatedAt })),
        };
      },
    }),
    route<unknown, { path: string }>({
      method: "get",
      path: "/api/memory/file",
      tag: "memory",
      summary: "Read a file of memory",
      query: { path },
      required: ["path"],
      answer: object({ path: text, text, updated_at: time, version: whole }),
      refusals,
      handle({ user, query }) {
        const file = memory.read(user.id, query.path);
        if (!file) throw missing(query.path);
        return { path: file.path, text: file.text, updated_at: file.updatedAt, version: file.version };
      },
    }),
    route<{ text: string; version?: number }, { path: string }>({
      method: "put",
      path: "/api/memory/file",
      tag: "memory",
      summary: "Write a file of memory; with `version` only where it is still the one that was read",
      query: { path },
      required: ["path"],
      body: {
        type: "object",
        required: ["text"],
        properties: { text: { type: "string" }, version: { type: "integer" } },
      },
      answer: object({ path: text, version: whole }),
      handle({ user, query, body }) {
        const known = memory.read(user.id, query.path)?.version ?? 0;
        if (body.version !== undefined && body.version !== known)
          throw new Fault(
            "invalid",
            "memory_changed",
            `${query.path} has changed since you read it (version ${known}): read it again, then write.`,
            { param: "version" },
          );
        const { path: written, version } = memory.write(user.id, query.path, body.text);
        return { path: written, version };
      },
    }),
    route<unknown, { path: string }>({
      method: "delete",
      path: "/api/memory/file",
      tag: "memory",
      summary: "Forget a file of memory",
      query: { path },
      required: ["path"],
      status: 204,
      refusals,
      handle({ user, query }) {
        if (!memory.remove(user.id, query.path)) throw missing(query.path);
      },
    }),
  ];
}
