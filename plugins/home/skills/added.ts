/** Skills from elsewhere, as the operator agreed to them: rows of the store, so that nothing changes them afterwards and every node has them. */
import { defineTables } from "../../../kernel/kit/store.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { AddedSkill, AddedSkills } from "../services.ts";
import { digestOf } from "./bundle.ts";

export const SKILL_TABLES = defineTables(
  ({ text, integer, bytes, strict }) => `
  CREATE TABLE skills (
    name ${text} PRIMARY KEY,
    digest ${text} NOT NULL,
    -- As JSON.
    origin ${text} NOT NULL,
    added_at ${text} NOT NULL
  ) ${strict};
  CREATE TABLE skill_files (
    skill ${text} NOT NULL REFERENCES skills (name) ON DELETE CASCADE,
    path ${text} NOT NULL,
    bytes ${integer} NOT NULL,
    data ${bytes} NOT NULL,
    PRIMARY KEY (skill, path)
  ) ${strict};`,
);

interface Row {
  readonly name: string;
  readonly digest: string;
  readonly origin: string;
  readonly added_at: string;
}

/** Reads one at a time, beside what the operator does with them. */
export interface AddedRows extends AddedSkills {
  /** Names and digests alone. */
  known(): Promise<readonly Pick<AddedSkill, "name" | "digest">[]>;
  file(name: string, path: string): Promise<Uint8Array | undefined>;
  sizes(name: string): Promise<readonly { readonly path: string; readonly bytes: number }[]>;
}

export function createAddedSkills(sql: Sql): AddedRows {
  return {
    known: () => sql.all("SELECT name, digest FROM skills ORDER BY name"),
    async list() {
      const rows = await sql.all<Row>("SELECT * FROM skills ORDER BY name");
      return rows.map(({ name, digest, origin, added_at }) => ({
        name,
        digest,
        origin: JSON.parse(origin) as AddedSkill["origin"],
        addedAt: added_at,
      }));
    },
    async files(name) {
      const rows = await sql.all<{ path: string; data: Uint8Array }>(
        "SELECT path, data FROM skill_files WHERE skill = ? ORDER BY path",
        name,
      );
      return rows.length === 0 ? undefined : new Map(rows.map(({ path, data }) => [path, data]));
    },
    async file(name, path) {
      const row = await sql.get<{ data: Uint8Array }>(
        "SELECT data FROM skill_files WHERE skill = ? AND path = ?",
        name,
        path,
      );
      return row?.data;
    },
    sizes: (name) => sql.all("SELECT path, bytes FROM skill_files WHERE skill = ? ORDER BY path", name),
    async put({ name, digest, origin }, files) {
      if (digest !== digestOf(files)) throw new Error("the files are not those that were agreed to");
      await sql.transaction(async (tx) => {
        await tx.run("DELETE FROM skills WHERE name = ?", name);
        await tx.run(
          "INSERT INTO skills (name, digest, origin, added_at) VALUES (?, ?, ?, ?)",
          name,
          digest,
          JSON.stringify(origin),
          new Date().toISOString(),
        );
        for (const [path, data] of files)
          await tx.run(
            "INSERT INTO skill_files (skill, path, bytes, data) VALUES (?, ?, ?, ?)",
            name,
            path,
            data.byteLength,
            data,
          );
      });
    },
    remove: async (name) => (await sql.run("DELETE FROM skills WHERE name = ?", name)) > 0,
  };
}
