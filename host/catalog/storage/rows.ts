/** Installed tools as rows that every node of a fleet reads: what one installs is there on all within two seconds. */

import { Fault, type Queries, reason, type Sql } from "../../../kernel/plugin.ts";
import type { Store } from "../../../plugins/store/services.ts";
import {
  assertUnchanged,
  type BrokenTool,
  type Candidate,
  type Catalog,
  type InstalledTool,
  isSameTool,
  recordOf,
  type ToolRecord,
  toTool,
  withChoices,
} from "../catalog.ts";
import { TOPIC, type ToolTable } from "./tables.ts";

interface ToolRow {
  readonly name: string;
  readonly sha256: string;
  readonly installed_at: string;
  readonly record: string;
  readonly capabilities: string;
}

interface LoadedTools {
  readonly tools: ReadonlyMap<string, InstalledTool>;
  readonly broken: readonly BrokenTool[];
}

export function openRowCatalog(sql: Sql, changes: Store["changes"]): Catalog {
  const {
    get: current,
    forget,
    close,
  } = changes.cache<LoadedTools>(TOPIC, (last) => readRows(sql, last?.tools));

  async function place(
    name: string,
    candidate: Candidate,
    isExpected: (found: ToolRow | undefined) => boolean,
    keeps = false,
  ): Promise<InstalledTool> {
    const record = recordOf(candidate);
    try {
      await sql.transaction(async (tx) => {
        // First: other installs wait here, and then see what this one did.
        await changes.mark(TOPIC, tx);
        const found = await tx.get<ToolRow>("SELECT sha256, installed_at FROM tools WHERE name = ?", name);
        if (!isExpected(found)) throw overtaken(name, found === undefined);
        if (keeps) await keepAsPrevious(tx, name);
        await writeToolRow(tx, "tools", name, record, candidate);
      });
    } finally {
      forget();
    }
    const installed = (await current()).tools.get(name);
    if (installed === undefined)
      throw new Fault("unavailable", "tool_write", `${name} was removed during the install`);
    return installed;
  }

  return {
    list: async () => [...(await current()).tools.values()],
    broken: async () => (await current()).broken,
    find: async (name) => (await current()).tools.get(name),
    async read(tool) {
      const row = await sql.get<{ readonly component: Uint8Array<ArrayBuffer> }>(
        "SELECT component FROM tools WHERE name = ? AND sha256 = ?",
        tool.name,
        tool.digest,
      );
      if (row === undefined) {
        forget();
        const message = `${tool.name} was replaced or removed on another node a moment ago. Try again.`;
        throw new Fault("unavailable", "tool_replaced", message);
      }
      await assertUnchanged(tool, row.component);
      return row.component;
    },
    put: (name, candidate, before) =>
      place(
        name,
        candidate,
        (found) => found?.sha256 === before?.digest && found?.installed_at === before?.installedAt,
        before !== undefined && !isSameTool(before, candidate),
      ),
    async configure(tool, choices) {
      const { name, digest, installedAt } = tool;
      try {
        await sql.transaction(async (tx) => {
          await changes.mark(TOPIC, tx);
          const row = await tx.get<ToolRow>(
            "SELECT record FROM tools WHERE name = ? AND sha256 = ? AND installed_at = ?",
            ...[name, digest, installedAt],
          );
          if (row === undefined) throw overtaken(name, false);
          const record = withChoices(JSON.parse(row.record) as ToolRecord, choices);
          await tx.run(
            "UPDATE tools SET record = ?, installed_at = ? WHERE name = ?",
            ...[JSON.stringify(record), record.installed_at, name],
          );
        });
      } finally {
        forget();
      }
      return (await current()).tools.get(name) ?? tool;
    },
    async remains(name) {
      const row = await sql.get<ToolRow>("SELECT sha256 FROM tools WHERE name = ?", name);
      return row?.sha256;
    },
    async mend({ name, digest }, component) {
      try {
        await sql.transaction(async (tx) => {
          await changes.mark(TOPIC, tx);
          await tx.run(
            "UPDATE tools SET component = ? WHERE name = ? AND sha256 = ?",
            component,
            name,
            digest,
          );
        });
      } finally {
        forget();
      }
    },
    putOver: (name, candidate, digest) => place(name, candidate, (found) => found?.sha256 === digest),
    async previous(name) {
      const row = await sql.get<{
        readonly record: string;
        readonly capabilities: string;
        readonly component: Uint8Array<ArrayBuffer>;
      }>("SELECT record, capabilities, component FROM previous_tools WHERE name = ?", name);
      if (row === undefined) return undefined;
      const tool = toTool(name, JSON.parse(row.record) as ToolRecord, row.capabilities);
      await assertUnchanged(tool, row.component);
      return { tool, component: row.component, capabilitiesText: row.capabilities };
    },
    async remove(name) {
      try {
        return await sql.transaction(async (tx) => {
          await changes.mark(TOPIC, tx);
          await tx.run("DELETE FROM previous_tools WHERE name = ?", name);
          return (await tx.run("DELETE FROM tools WHERE name = ?", name)) === 1;
        });
      } finally {
        forget();
      }
    },
    async offered() {
      const rows = await sql.all<{ name: string; digest: string }>("SELECT name, digest FROM shipped_tools");
      return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
    },
    offer: (name, digest) => offerRow(sql, name, digest),
    close,
  };
}

export async function writeToolRow(
  queries: Queries,
  table: ToolTable,
  name: string,
  record: ToolRecord,
  { capabilitiesText, component }: Pick<Candidate, "capabilitiesText" | "component">,
): Promise<void> {
  await queries.run(
    `INSERT INTO ${table} (name, sha256, installed_at, record, capabilities, component) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, installed_at = excluded.installed_at,
       record = excluded.record, capabilities = excluded.capabilities, component = excluded.component`,
    name,
    record.sha256,
    record.installed_at,
    JSON.stringify(record),
    capabilitiesText,
    component,
  );
}

async function keepAsPrevious(queries: Queries, name: string): Promise<void> {
  await queries.run("DELETE FROM previous_tools WHERE name = ?", name);
  await queries.run(
    `INSERT INTO previous_tools (name, sha256, installed_at, record, capabilities, component)
     SELECT name, sha256, installed_at, record, capabilities, component FROM tools WHERE name = ?`,
    name,
  );
}

export async function offerRow(queries: Queries, name: string, digest: string): Promise<void> {
  await queries.run(
    `INSERT INTO shipped_tools (name, digest) VALUES (?, ?)
     ON CONFLICT (name) DO UPDATE SET digest = excluded.digest`,
    name,
    digest,
  );
}

/** A tool that is still the same stays the same object. */
async function readRows(
  sql: Sql,
  known: ReadonlyMap<string, InstalledTool> = new Map(),
): Promise<LoadedTools> {
  const rows = await sql.all<ToolRow>(
    "SELECT name, sha256, installed_at, record, capabilities FROM tools ORDER BY name",
  );
  const tools = new Map<string, InstalledTool>();
  const broken: BrokenTool[] = [];
  for (const { name, sha256, installed_at, record, capabilities } of rows) {
    const before = known.get(name);
    try {
      const isSame = before?.digest === sha256 && before.installedAt === installed_at;
      tools.set(name, isSame ? before : toTool(name, JSON.parse(record) as ToolRecord, capabilities));
    } catch (error) {
      broken.push({ name, reason: reason(error) });
    }
  }
  return { tools, broken };
}

function overtaken(name: string, isGone: boolean): Fault {
  const what = isGone
    ? "was removed on another node"
    : "was installed on another node, perhaps in another version,";
  const message = `${name} ${what} in the meantime. Nothing was changed: look at it and install yours again if you still want to.`;
  return new Fault("invalid", "tool_exists", message, { param: "name" });
}
