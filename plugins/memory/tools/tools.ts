/** Memory as the model sees it. */

import { documentOutcome, paramsSchema, writtenFrom } from "../../../kernel/kit/tools.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { OwnTool } from "../../agent/services.ts";
import { cleanPath } from "../path.ts";
import type { Memory, Writing } from "../services.ts";
import type { MemoryWriter } from "../wire.ts";

const PATH = { type: "string", minLength: 1, description: "Path of the document, for example notes/bike.md" };
const USUAL_HITS = 5;
const MAX_LISTED = 200;
const MAX_ATTEMPTS = 5;

/** `identity`: paths whose text goes into the prompt, which only the person may write. */
export function memoryTools(memory: Memory, identity: ReadonlySet<string>): OwnTool[] {
  return [
    {
      name: "memory_write",
      effect: "recorded",
      words: { did: "wrote_memory", object: ["{path}"] },
      description:
        "Saves a document in the user's long-term memory, which every later conversation can search. Replaces the text at that path; earlier texts are kept as versions.",
      schema: paramsSchema(
        {
          path: PATH,
          text: { type: "string" },
          append: { type: "boolean", description: "Adds to the text instead of replacing it" },
        },
        ["path", "text"],
      ),
      run: (params, { user, originsOf, channel, thread, turn, record }) =>
        documentOutcome("memory", async () => {
          const { path, text, append } = params as { path: string; text: string; append?: boolean };
          refuseIdentity(path, identity);
          // A name can say something too.
          const origins = (await originsOf?.(text, path)) ?? [];
          const writer: MemoryWriter = { kind: "model", thread, channel, turn };
          const writing: Writing = {
            origins,
            writer,
            done: async (tx, written) =>
              record?.(tx, { about: path, outcome: await documentOutcome("memory", async () => [written]) }),
          };
          const written = await (append === true
            ? addTo(memory, user, path, text, writing)
            : memory.write(user, path, text, writing));
          return [written];
        }),
    },
    {
      name: "memory_read",
      effect: "reads",
      words: { did: "read_memory", object: ["{path}"] },
      description: "Reads a document from the user's memory, or an earlier version of it.",
      schema: paramsSchema({ path: PATH, version: { type: "integer", minimum: 1 } }, ["path"]),
      run: (params, { user }) =>
        documentOutcome("memory", async () => {
          const { path, version } = params as { path: string; version?: number };
          const found = await (version === undefined
            ? memory.read(user, path)
            : memory.readVersion(user, path, version));
          if (!found) throw noDocument(version === undefined ? path : `${path} in version ${version}`);
          const { path: at, text, version: is, updatedAt } = found;
          return [
            { path: at, text, version: is, updated_at: updatedAt, written_from: writtenFrom(found) },
            found,
          ];
        }),
    },
    {
      name: "memory_search",
      effect: "reads",
      words: { did: "searched_memory", object: ["{query}"], counts: ["results"] },
      description:
        "Searches the user's memory by words and meaning: what they said, noted or asked to remember.",
      schema: paramsSchema(
        { query: { type: "string", minLength: 1 }, limit: { type: "integer", minimum: 1, maximum: 50 } },
        ["query"],
      ),
      run: (params, { user }) =>
        documentOutcome("memory", async () => {
          const { query, limit } = params as { query: string; limit?: number };
          const hits = await memory.search(user, query, limit ?? USUAL_HITS);
          const results = hits.map(({ path, snippet, score, updatedAt, origins }) => ({
            path,
            snippet,
            score,
            updated_at: updatedAt,
            written_from: writtenFrom({ origins }),
          }));
          return [{ results }, ...hits];
        }),
    },
    {
      name: "memory_remove",
      effect: "writes",
      words: { did: "removed_memory", object: ["{path}"] },
      description:
        "Forgets a document of the user's memory with all its versions. Only when the user asks for it.",
      schema: paramsSchema({ path: PATH }, ["path"]),
      judged: { path: "selector" },
      run: (params, { user }) =>
        documentOutcome("memory", async () => {
          const { path } = params as { path: string };
          refuseIdentity(path, identity);
          if (!(await memory.remove(user, path))) throw noDocument(path);
          return [{ path, removed: true }];
        }),
    },
    {
      name: "memory_tree",
      effect: "reads",
      words: { did: "listed_memory" },
      description: "Lists the documents in the user's memory.",
      schema: paramsSchema(
        { prefix: { type: "string", description: "Only paths with this prefix, for example notes/" } },
        [],
      ),
      run: (params, { user }) =>
        documentOutcome("memory", async () => {
          const { prefix } = params as { prefix?: string };
          const all = (await memory.tree(user)).filter(({ path }) => path.startsWith(prefix ?? ""));
          const listed = all.slice(0, MAX_LISTED);
          const documents = listed.map(({ path, updatedAt, bytes }) => ({
            path,
            updated_at: updatedAt,
            bytes,
          }));
          return [{ documents, more: all.length - documents.length || undefined }, ...listed];
        }),
    },
  ];
}

/** If something else writes the document at the same moment, its text is read again. */
async function addTo(memory: Memory, user: string, path: string, text: string, writing: Writing) {
  for (let attempt = 1; ; attempt++) {
    const before = await memory.read(user, path);
    const whole = before === undefined || before.text === "" ? text : `${before.text.trimEnd()}\n${text}`;
    try {
      return await memory.write(user, path, whole, { ...writing, expected: before?.version ?? 0 });
    } catch (error) {
      const isOutdated = error instanceof Fault && error.code === "memory_changed";
      if (!isOutdated || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** A tool's output or a web page could talk a model into it, and it would outlive the turn as part of the prompt. */
function refuseIdentity(path: string, identity: ReadonlySet<string>): void {
  if (!identity.has(cleanPath(path))) return;
  const message = `${path} is part of your instructions, so only the user can edit it, on the Memory page. Use another document.`;
  throw new Fault("forbidden", "identity_file", message);
}

function noDocument(which: string): Fault {
  const message = `There is no document ${which}. memory_tree lists all documents.`;
  return new Fault("missing", "no_document", message);
}
