/** Tools between a home's folders and rows, when a store moves from one engine to the other. Installations stay what they are. */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault, reason, type Sql } from "../../../kernel/plugin.ts";
import { assertUnchanged, type ToolRecord, toTool } from "../catalog.ts";
import { checkName } from "../install.ts";
import { FILES, openFolderCatalog, readComponent, readTool, toolsFolder } from "./folders.ts";
import { exists, previousFolder } from "./replaced.ts";
import { offerRow, writeToolRow } from "./rows.ts";
import type { ToolTable } from "./tables.ts";

interface ToolRow {
  readonly name: string;
  readonly record: string;
  readonly capabilities: string;
  readonly component: Uint8Array<ArrayBuffer>;
}

export async function pushTools(home: string, sql: Sql): Promise<void> {
  const folder = toolsFolder(home);
  const catalog = openFolderCatalog(home);
  const broken = await catalog.broken();
  if (broken.length > 0) {
    const message = `these tools in ${folder} cannot be read: ${broken.map(({ name, reason }) => `${name} (${reason})`).join(", ")}. Install them again or remove them, then copy with --replace`;
    throw new Fault("invalid", "tool_unusable", message);
  }
  for (const { name } of await catalog.list()) {
    await pushTool(sql, "tools", name, join(folder, name));
    const previous = previousFolder(folder, name);
    if (await exists(previous)) await pushTool(sql, "previous_tools", name, previous);
  }
  for (const [name, digest] of Object.entries(await catalog.offered())) await offerRow(sql, name, digest);
}

async function pushTool(sql: Sql, table: ToolTable, name: string, own: string): Promise<void> {
  const component = await readComponent(own, await readTool(own, name));
  const record = JSON.parse(await readFile(join(own, FILES.record), "utf8")) as ToolRecord;
  const capabilitiesText = await readFile(join(own, FILES.capabilities), "utf8");
  await writeToolRow(sql, table, name, record, { capabilitiesText, component });
}

export async function pullTools(home: string, sql: Sql): Promise<void> {
  const folder = toolsFolder(home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await pullFrom(sql, "tools", folder, (name) => join(folder, name));
  await pullFrom(sql, "previous_tools", folder, (name) => previousFolder(folder, name));
  const offered = await sql.all<{ name: string; digest: string }>("SELECT name, digest FROM shipped_tools");
  const catalog = openFolderCatalog(home);
  for (const { name, digest } of offered) await catalog.offer(name, digest);
}

async function pullFrom(
  sql: Sql,
  table: ToolTable,
  folder: string,
  placeOf: (name: string) => string,
): Promise<void> {
  const names = await sql.all<{ readonly name: string }>(`SELECT name FROM ${table} ORDER BY name`);
  for (const { name } of names) {
    const row = await sql.get<ToolRow>(
      `SELECT name, record, capabilities, component FROM ${table} WHERE name = ?`,
      name,
    );
    if (row !== undefined) await writeTool(folder, row, placeOf);
  }
}

/** In one rename, so that there is never half a tool. */
async function writeTool(
  folder: string,
  { name, record, capabilities, component }: ToolRow,
  placeOf: (name: string) => string,
): Promise<void> {
  // A row must not lead out of the folder, nor bring other code than was installed.
  assertName(name);
  await assertUnchanged(toTool(name, JSON.parse(record) as ToolRecord, capabilities), component);
  const draft = join(folder, `.new-${name}`);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  const write = (file: string, data: string | Uint8Array) =>
    writeFile(join(draft, file), data, { flush: true });
  await write(FILES.component, component);
  await write(FILES.capabilities, capabilities);
  await write(FILES.record, `${JSON.stringify(JSON.parse(record), undefined, 2)}\n`);
  await rm(placeOf(name), { recursive: true, force: true });
  await rename(draft, placeOf(name));
}

function assertName(name: string): void {
  try {
    checkName(name);
  } catch (error) {
    const message = `the database holds a tool that cannot be one: ${reason(error)}`;
    throw new Fault("invalid", "bad_tool_name", message);
  }
}
