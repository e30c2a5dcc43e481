/** The user's memory files: search, read, write and delete. */
import { assertTool, missingFault, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import type { Services } from "../../../kernel/plugin.ts";
import { MemoryEntry, MemoryFile, MemoryHit, MemoryVersion } from "../wire.ts";

const route = routesOf("memory");

const Place = Type.Object({ path: Type.String({ minLength: 1, maxLength: 500 }) });
const Listed = Type.Object({
  ...MemoryHit.properties,
  bytes: Type.Optional(MemoryEntry.properties.bytes),
});
const { path, version } = MemoryFile.properties;
/** Each route does what a tool of the agent does, so it needs the same scope. */
const outOfScope = { 403: "The token may not use the tool that does this" };
const refusals = { ...outOfScope, 404: "There is no such file" };

export function memoryRoutes({ memory }: Pick<Services, "memory">): readonly Route[] {
  const missing = (name: string) =>
    missingFault("memory_not_found", `There is no ${name} in memory.`, "path");
  return [
    route("GET /api/memory", {
      summary: "Search memory; without `q`, list every file",
      query: Type.Object({
        q: Type.Optional(Type.String()),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
      }),
      answer: Type.Object({ results: Type.Array(Listed) }),
      refusals: outOfScope,
      scoped: true,
      async handle({ user, query: { q, limit } }) {
        assertTool(user, q ? "memory_search" : "memory_tree", q ? "search memory" : "list memory");
        if (q) return { results: await memory.search(user.id, q, limit) };
        const files = (await memory.tree(user.id)).slice(0, limit);
        return {
          results: files.map(({ firstLine = "", ...file }) => ({ ...file, snippet: firstLine, score: 0 })),
        };
      },
    }),
    route("GET /api/memory/file", {
      summary: "Read a memory file; with `version`, an earlier text of it",
      query: Type.Object({ ...Place.properties, version: Type.Optional(Type.Integer({ minimum: 1 })) }),
      answer: MemoryFile,
      refusals,
      scoped: true,
      async handle({ user, query }) {
        assertTool(user, "memory_read", "read memory");
        const file = await (query.version === undefined
          ? memory.read(user.id, query.path)
          : memory.readVersion(user.id, query.path, query.version));
        if (!file) throw missing(query.path);
        return file;
      },
    }),
    route("GET /api/memory/file/history", {
      summary: "List the versions of a memory file, newest first",
      query: Place,
      answer: Type.Object({ versions: Type.Array(MemoryVersion) }),
      refusals,
      scoped: true,
      async handle({ user, query }) {
        assertTool(user, "memory_read", "read memory");
        const versions = await memory.history(user.id, query.path);
        if (versions.length === 0) throw missing(query.path);
        return { versions };
      },
    }),
    route("PUT /api/memory/file", {
      summary: "Write a memory file; with `version`, only if it has not changed since you read it",
      query: Place,
      body: Type.Object({ text: Type.String(), version: Type.Optional(version) }),
      scoped: true,
      answer: Type.Object({ path, version }),
      refusals: outOfScope,
      handle({ user, isBrowser, query, body }) {
        assertTool(user, "memory_write", "write memory");
        const kind = isBrowser ? "page" : "api";
        return memory.write(user.id, query.path, body.text, { expected: body.version, writer: { kind } });
      },
    }),
    route("DELETE /api/memory/file", {
      summary: "Delete a memory file",
      query: Place,
      status: 204,
      scoped: true,
      refusals,
      async handle({ user, query }) {
        assertTool(user, "memory_remove", "delete memory");
        if (!(await memory.remove(user.id, query.path))) throw missing(query.path);
      },
    }),
  ];
}
