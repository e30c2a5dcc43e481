/**
 * The servers and what is known of their tools, as rows that every node reads: which there are, what the operator agreed to,
 * and what the server says now. So a list of tools needs no connection.
 */
import { randomUUID } from "node:crypto";
import type { ServerFile } from "../../../capabilities/servers/server-file.ts";
import { defineTables } from "../../../kernel/kit.ts";
import { Fault, reason, type Sql, type Store, type Transaction } from "../../../kernel/plugin.ts";
import { parseServerFile } from "../server-file.ts";
import type { Definition } from "./definition.ts";

export interface StoredTool {
  /** Its name on the server. */
  readonly tool: string;
  /** What the agent calls it. */
  readonly name: string;
  /** What the operator has seen; it is used only while the server says the same. */
  readonly agreed?: Definition;
  /** What the server says now, where that is something else. */
  readonly now?: Definition;
  /** False where the server no longer has it. */
  readonly isThere: boolean;
  /** The operator lets it run without asking, where the server marks it read-only. */
  readonly mayRun: boolean;
}

/** What went wrong with it last, on any node. */
export interface Trouble {
  readonly status: "unreachable" | "unauthenticated";
  readonly at: string;
  /** A sentence. */
  readonly why: string;
}

export interface StoredServer {
  readonly name: string;
  /** Another one after it was removed and added again. */
  readonly id: string;
  readonly addedAt: string;
  readonly fileText: string;
  readonly file: ServerFile;
  readonly tools: readonly StoredTool[];
  readonly trouble?: Trouble | undefined;
  /** Of the protocol, as it was spoken last. */
  readonly revision?: string;
  /** Sentences: tools that cannot be used. */
  readonly leftOut?: readonly string[];
  /** The operator agreed to its read-only tools before it showed any, because it wanted a sign-in first. */
  readonly isAgreedAhead?: boolean;
}

/** Each user has a credential of their own, and may be shown other tools. */
export function isPerUser({ file: { target } }: StoredServer): boolean {
  return target.type === "http" && target.credential.perUser;
}

export type ServerState = Pick<StoredServer, "trouble" | "revision" | "leftOut" | "isAgreedAhead">;

export interface ServerRows {
  all(): Promise<readonly StoredServer[]>;
  find(name: string): Promise<StoredServer | undefined>;
  /** A server and a tool by what the agent calls it. */
  tool(name: string): Promise<{ readonly server: StoredServer; readonly tool: StoredTool } | undefined>;
  /** A fault where there is one of that name. */
  add(server: { readonly name: string; readonly fileText: string }): Promise<StoredServer>;
  /** The row as it is changed, in one step: nothing where it is gone, or another server by now. */
  change(
    of: Pick<StoredServer, "name" | "id">,
    edit: (server: StoredServer) => Partial<Pick<StoredServer, "fileText" | "tools"> & ServerState>,
  ): Promise<StoredServer | undefined>;
  remove(name: string): Promise<boolean>;
  /** False where it was taken before: for what may happen once. Forgotten after `keptMillis`. */
  takeOnce(id: string, keptMillis: number): Promise<boolean>;
  /** Told after rows changed, here or on another node. */
  onChange(listener: () => void): void;
  close(): void;
}

export const OWNER = "mcp";
const TOPIC = "mcp-servers";
const LOOK_MILLIS = 1000;

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

interface Reading {
  readonly servers: ReadonlyMap<string, StoredServer>;
  readonly tools: ReadonlyMap<string, { readonly server: StoredServer; readonly tool: StoredTool }>;
}

/** `watches`: false for a process that ends soon. */
export async function openServerRows(store: Store, watches: boolean): Promise<ServerRows> {
  const sql = await store.tables(OWNER, TABLES);
  const followed = store.changes.cache<Reading>(TOPIC, () => readRows(sql));
  const listeners = new Set<() => void>();
  let number = -1;

  /** Where nobody tells of changes (on SQLite), the number of the last one does. */
  async function current(): Promise<Reading> {
    if (sql.engine === "sqlite") {
      const found = await readNumber(sql);
      if (found !== number) followed.forget();
      number = found;
    }
    return followed.get();
  }

  const tell = () => {
    for (const listener of listeners) listener();
  };

  async function write<Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> {
    try {
      return await sql.transaction(async (tx) => {
        // First: others wait here, and then see what this one did.
        await store.changes.mark(TOPIC, tx);
        await tx.run(
          `INSERT INTO mcp_changes (topic, number) VALUES (?, 1)
           ON CONFLICT (topic) DO UPDATE SET number = mcp_changes.number + 1`,
          TOPIC,
        );
        return work(tx);
      });
    } finally {
      followed.forget();
      tell();
    }
  }

  let known = -1;
  const look = async () => {
    const found = await readNumber(sql);
    if (known !== -1 && found !== known) tell();
    known = found;
  };
  const timer =
    watches && sql.engine === "sqlite"
      ? setInterval(() => void look().catch(() => {}), LOOK_MILLIS).unref()
      : undefined;
  const unfollow = store.changes.follow(TOPIC, tell);

  return {
    all: async () => [...(await current()).servers.values()],
    find: async (name) => (await current()).servers.get(name),
    tool: async (name) => (await current()).tools.get(name),
    async add({ name, fileText }) {
      await write(async (tx) => {
        const isNew = await tx.run(
          `INSERT INTO mcp_servers (name, id, added_at, file, tools, state) VALUES (?, ?, ?, ?, '[]', '{}')
           ON CONFLICT (name) DO NOTHING`,
          name,
          randomUUID(),
          new Date().toISOString(),
          fileText,
        );
        if (isNew === 0)
          throw new Fault(
            "invalid",
            "server_exists",
            `There is an MCP server named ${name} already. Remove it first, or edit its file.`,
            { param: "name" },
          );
      });
      const added = (await current()).servers.get(name);
      if (added === undefined)
        throw new Fault("unavailable", "server_gone", `${name} was removed meanwhile.`);
      return added;
    },
    change: ({ name, id }, edit) =>
      write(async (tx) => {
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
    remove: (name) =>
      write(async (tx) => (await tx.run("DELETE FROM mcp_servers WHERE name = ?", name)) === 1),
    async takeOnce(id, keptMillis) {
      await sql.run("DELETE FROM mcp_taken WHERE until <= ?", Date.now());
      const taken = await sql.run(
        "INSERT INTO mcp_taken (id, until) VALUES (?, ?) ON CONFLICT (id) DO NOTHING",
        id,
        Date.now() + keptMillis,
      );
      return taken === 1;
    },
    onChange: (listener) => void listeners.add(listener),
    close() {
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

async function readRows(sql: Pick<Sql, "all">): Promise<Reading> {
  const rows = await sql.all<Row>("SELECT * FROM mcp_servers ORDER BY name");
  const servers = new Map(rows.map((row) => [row.name, toServer(row)]));
  const tools = [...servers.values()].flatMap((server) =>
    server.tools.map((tool) => [tool.name, { server, tool }] as const),
  );
  return { servers, tools: new Map(tools) };
}

function toServer({ name, id, added_at: addedAt, file: fileText, tools, state }: Row): StoredServer {
  try {
    return {
      name,
      id,
      addedAt,
      fileText,
      file: parseServerFile(fileText),
      tools: JSON.parse(tools) as StoredTool[],
      ...(JSON.parse(state) as ServerState),
    };
  } catch (error) {
    throw new Fault("unavailable", "server_row", `The MCP server ${name} cannot be read: ${reason(error)}`, {
      cause: error,
    });
  }
}
