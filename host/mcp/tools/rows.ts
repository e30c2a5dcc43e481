/** The stored servers and their tools, which every node reads: a list of tools needs no connection. */
import { randomUUID } from "node:crypto";
import type { ServerFile } from "../../../capabilities/servers/server-file.ts";
import { defineTables } from "../../../kernel/kit/store.ts";
import { Fault, reason, type Sql, type Transaction } from "../../../kernel/plugin.ts";
import type { Store } from "../../../plugins/store/services.ts";
import type { Definition } from "./definition.ts";
import { parseServerFile } from "./server-file.ts";

export interface StoredTool {
  readonly tool: string;
  readonly name: string;
  /** The definition that the operator has seen; it is used only while the server says the same. */
  readonly agreed?: Definition;
  /** The server's definition, where that is another one now. */
  readonly now?: Definition;
  readonly isThere: boolean;
  /** The operator lets it run without asking, where the server marks it read-only. */
  readonly mayRun: boolean;
}

export interface StoredServer {
  readonly name: string;
  /** A server that was removed and added again has another id. */
  readonly id: string;
  readonly addedAt: string;
  readonly fileText: string;
  readonly file: ServerFile;
  readonly tools: readonly StoredTool[];
  readonly trouble?:
    | { readonly status: "unreachable" | "unauthenticated"; readonly at: string; readonly why: string }
    | undefined;
  readonly revision?: string;
  readonly leftOut?: readonly string[];
  /** The operator agreed to its read-only tools before it showed any, because it wanted a sign-in first. */
  readonly isAgreedAhead?: boolean;
}

export function isPerUser({ file: { target } }: StoredServer): boolean {
  return target.type === "http" && target.credential.perUser;
}

export type ServerState = Pick<StoredServer, "trouble" | "revision" | "leftOut" | "isAgreedAhead">;

export type ServerRows = Awaited<ReturnType<typeof openServerRows>>;

export const OWNER = "mcp";
const TOPIC = "mcp-servers";
const POLL_INTERVAL_MS = 1000;

export const TABLES = defineTables(
  ({ text, integer }) => `
  CREATE TABLE mcp_servers (
    name ${text} PRIMARY KEY, id ${text} NOT NULL, added_at ${text} NOT NULL,
    file ${text} NOT NULL, tools ${text} NOT NULL, state ${text} NOT NULL
  );
  CREATE TABLE mcp_changes (topic ${text} PRIMARY KEY, number ${integer} NOT NULL);
  CREATE TABLE mcp_taken (id ${text} PRIMARY KEY, until ${integer} NOT NULL);`,
);

interface Row {
  readonly name: string;
  readonly id: string;
  readonly added_at: string;
  readonly file: string;
  readonly tools: string;
  readonly state: string;
}

interface LoadedServers {
  readonly servers: ReadonlyMap<string, StoredServer>;
  readonly tools: ReadonlyMap<string, { readonly server: StoredServer; readonly tool: StoredTool }>;
}

/** `polls`: false for a process that ends soon. */
export async function openServerRows(store: Store, polls: boolean) {
  const sql = await store.tables(OWNER, TABLES);
  const followed = store.changes.cache<LoadedServers>(TOPIC, () => readRows(sql));
  const listeners = new Set<() => void>();
  let number = -1;

  const changed = () => {
    followed.forget();
    for (const listener of listeners) listener();
  };

  /** SQLite does not tell other processes of a change: the number of the last one does. */
  async function current(): Promise<LoadedServers> {
    if (sql.engine === "sqlite") {
      const found = await readNumber(sql);
      const isChanged = found !== number;
      number = found;
      if (isChanged) changed();
    }
    return followed.get();
  }

  async function write<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    try {
      return await sql.transaction(async (tx) => {
        // This comes first: others wait here, and then see what this one did.
        await store.changes.mark(TOPIC, tx);
        await tx.run(
          `INSERT INTO mcp_changes (topic, number) VALUES (?, 1)
           ON CONFLICT (topic) DO UPDATE SET number = mcp_changes.number + 1`,
          TOPIC,
        );
        return work(tx);
      });
    } finally {
      changed();
    }
  }

  const timer =
    polls && sql.engine === "sqlite"
      ? setInterval(() => void current().catch(() => {}), POLL_INTERVAL_MS).unref()
      : undefined;
  const unfollow = store.changes.follow(TOPIC, changed);

  return {
    all: async () => [...(await current()).servers.values()],
    find: async (name: string) => (await current()).servers.get(name),
    /** Finds a tool and its server by the name that the agent uses. */
    tool: async (name: string) => (await current()).tools.get(name),
    async add({ name, fileText: file }: Pick<StoredServer, "name" | "fileText">): Promise<StoredServer> {
      const row = {
        name,
        id: randomUUID(),
        added_at: new Date().toISOString(),
        file,
        tools: "[]",
        state: "{}",
      };
      await write(async (tx) => {
        const isNew = await tx.run(
          `INSERT INTO mcp_servers (name, id, added_at, file, tools, state) VALUES (?, ?, ?, ?, ?, ?)
           ON CONFLICT (name) DO NOTHING`,
          ...Object.values(row),
        );
        if (isNew === 0) {
          const message = `There is an MCP server named ${name} already. Remove it first, or edit its file.`;
          throw new Fault("invalid", "server_exists", message, { param: "name" });
        }
      });
      return toServer(row);
    },
    /** Changes a row in one transaction; returns undefined where it is gone, or is another server by now. */
    change: (
      { name, id }: Pick<StoredServer, "name" | "id">,
      edit: (server: StoredServer) => Partial<Pick<StoredServer, "fileText" | "tools"> & ServerState>,
    ) =>
      write(async (tx): Promise<StoredServer | undefined> => {
        const row = await tx.get<Row>("SELECT * FROM mcp_servers WHERE name = ? AND id = ?", name, id);
        if (row === undefined) return undefined;
        const before = toServer(row);
        const after = { ...before, ...edit(before) };
        const { fileText, tools, trouble, revision, leftOut, isAgreedAhead } = after;
        await tx.run(
          "UPDATE mcp_servers SET file = ?, tools = ?, state = ? WHERE name = ?",
          fileText,
          JSON.stringify(tools),
          JSON.stringify({ trouble, revision, leftOut, isAgreedAhead }),
          name,
        );
        return { ...after, file: fileText === before.fileText ? before.file : parseServerFile(fileText) };
      }),
    remove: (name: string) =>
      write(async (tx) => (await tx.run("DELETE FROM mcp_servers WHERE name = ?", name)) === 1),
    /** Returns false where the id was taken before. It is forgotten after `ttlMs`. */
    async takeOnce(id: string, ttlMs: number): Promise<boolean> {
      await sql.run("DELETE FROM mcp_taken WHERE until <= ?", Date.now());
      const taken = await sql.run(
        "INSERT INTO mcp_taken (id, until) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
        id,
        Date.now() + ttlMs,
      );
      return taken === 1;
    },
    /** The listener is called after rows changed, here or on another node. */
    onChange: (listener: () => void) => void listeners.add(listener),
    close(): void {
      clearInterval(timer);
      unfollow();
      followed.close();
    },
  };
}

async function readNumber(sql: Sql): Promise<number> {
  const row = await sql.get<{ readonly number: number }>(
    "SELECT number FROM mcp_changes WHERE topic = ?",
    TOPIC,
  );
  return row?.number ?? 0;
}

async function readRows(sql: Pick<Sql, "all">): Promise<LoadedServers> {
  const rows = await sql.all<Row>("SELECT * FROM mcp_servers ORDER BY name");
  const servers = new Map(rows.map((row) => [row.name, toServer(row)]));
  const tools = [...servers.values()].flatMap((server) =>
    server.tools.map((tool) => [tool.name, { server, tool }] as const),
  );
  return { servers, tools: new Map(tools) };
}

function toServer({ name, id, added_at: addedAt, file: fileText, tools, state }: Row): StoredServer {
  try {
    const file = parseServerFile(fileText);
    return { name, id, addedAt, fileText, file, tools: JSON.parse(tools), ...JSON.parse(state) };
  } catch (error) {
    throw new Fault("unavailable", "server_row", `The MCP server ${name} cannot be read: ${reason(error)}`, {
      cause: error,
    });
  }
}
