/** Tools between a home's folders and rows, when a store moves from one engine to the other. Installations stay what they are. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault, type Sql } from "../../kernel/plugin.ts";
import type { ToolRecord } from "./catalog.ts";
import { FILES, openFolderCatalog, readComponent, readTool, toolsFolder } from "./folders.ts";

interface ToolRow {
  readonly name: string;
  readonly record: string;
  readonly capabilities: string;
  readonly component: Uint8Array;
}

export async function pushTools(home: string, sql: Sql): Promise<void> {
  const folder = toolsFolder(home);
  const catalog = openFolderCatalog(home);
  for (const { name } of await catalog.list()) {
    const own = join(folder, name);
    const component = await readComponent(own, await readTool(own, name));
    const text = await readFile(join(own, FILES.record), "utf8");
    const record = JSON.parse(text) as ToolRecord;
    await sql.run(
      `INSERT INTO tools (name, sha256, installed_at, record, capabilities, component) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET sha256 = excluded.sha256, installed_at = excluded.installed_at,
         record = excluded.record, capabilities = excluded.capabilities, component = excluded.component`,
      name,
      record.sha256,
      record.installed_at,
      JSON.stringify(record),
      await readFile(join(own, FILES.capabilities), "utf8"),
      component,
    );
  }
  for (const [name, digest] of Object.entries(await catalog.offered()))
    await sql.run(
      "INSERT INTO shipped_tools (name, digest) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET digest = excluded.digest",
      name,
      digest,
    );
}

export async function pullTools(home: string, sql: Sql): Promise<void> {
  const folder = toolsFolder(home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const names = await sql.all<{ readonly name: string }>("SELECT name FROM tools ORDER BY name");
  for (const { name } of names) {
    const row = await sql.get<ToolRow>(
      "SELECT name, record, capabilities, component FROM tools WHERE name = ?",
      name,
    );
    if (row !== undefined) await writeTool(folder, row);
  }
  const offered = await sql.all<{ name: string; digest: string }>("SELECT name, digest FROM shipped_tools");
  const catalog = openFolderCatalog(home);
  for (const { name, digest } of offered) await catalog.offer(name, digest);
}

/** In one rename, so that there is never half a tool. */
async function writeTool(folder: string, { name, record, capabilities, component }: ToolRow): Promise<void> {
  // Whoever can write to the database must not write elsewhere on this machine.
  if (!/^[^./\\\0][^/\\\0]*$/.test(name))
    throw new Fault("invalid", "bad_tool_name", `the database holds a tool that cannot be one: ${name}`);
  const draft = join(folder, `.new-${name}`);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  const write = (file: string, data: string | Uint8Array) =>
    writeFile(join(draft, file), data, { flush: true });
  await write(FILES.component, component);
  await write(FILES.capabilities, capabilities);
  await write(FILES.record, `${JSON.stringify(JSON.parse(record), undefined, 2)}\n`);
  if ((await readdir(folder)).includes(name)) await rm(join(folder, name), { recursive: true });
  await rename(draft, join(folder, name));
}
