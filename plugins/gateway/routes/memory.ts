/** What the agent keeps for this user: searched, read and edited. */
import { Fault, type Memory } from "../../../kernel/plugin.ts";
import { MemoryEntry, MemoryFile, MemoryHit } from "../../../kernel/vocabulary/memory.ts";
import { Type } from "../../../kernel/vocabulary/wire/type.ts";
import { type Route, route } from "../route.ts";

const Place = Type.Object({ path: Type.String({ minLength: 1, maxLength: 500 }) });
const Listed = Type.Object({
  ...MemoryHit.properties,
  bytes: Type.Optional(MemoryEntry.properties.bytes),
});
const { path, version } = MemoryFile.properties;
const refusals = { 404: "There is no such file" };

export function memoryRoutes(memory: Memory): readonly Route[] {
  const missing = (name: string) =>
    new Fault("missing", "memory_not_found", `There is no ${name} in memory.`, { param: "path" });
  return [
    route({
      method: "get",
      path: "/api/memory",
      tag: "memory",
      summary: "Search memory; without `q`, list every file",
      query: Type.Object({
        q: Type.Optional(Type.String()),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      }),
      answer: Type.Object({ results: Type.Array(Listed) }),
      async handle({ user, query: { q, limit } }) {
        if (q) return { results: await memory.search(user.id, q, limit) };
        const files = (await memory.tree(user.id)).slice(0, limit);
        return { results: files.map((file) => ({ ...file, snippet: "", score: 0 })) };
      },
    }),
    route({
      method: "get",
      path: "/api/memory/file",
      tag: "memory",
      summary: "Read a memory file",
      query: Place,
      answer: MemoryFile,
      refusals,
      async handle({ user, query }) {
        const file = await memory.read(user.id, query.path);
        if (!file) throw missing(query.path);
        return file;
      },
    }),
    route({
      method: "put",
      path: "/api/memory/file",
      tag: "memory",
      summary: "Write a memory file; with `version`, only if it has not changed since you read it",
      query: Place,
      body: Type.Object({ text: Type.String(), version: Type.Optional(version) }),
      answer: Type.Object({ path, version }),
      handle: ({ user, query, body }) => memory.write(user.id, query.path, body.text, body.version),
    }),
    route({
      method: "delete",
      path: "/api/memory/file",
      tag: "memory",
      summary: "Delete a memory file",
      query: Place,
      status: 204,
      refusals,
      async handle({ user, query }) {
        if (!(await memory.remove(user.id, query.path))) throw missing(query.path);
      },
    }),
  ];
}
