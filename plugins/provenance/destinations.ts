/** The destinations that calls may go to although somebody else named them: for one user, or for everybody. */
import { Fault, type Gate, type Sql } from "../../kernel/plugin.ts";
import { linkOf } from "./person/identifiers.ts";
import { shownValue } from "./sentences.ts";
import type { Destinations } from "./services.ts";
import { scalarsIn } from "./trace.ts";

export interface KnownDestinations extends Destinations {
  /** Returns a check: may calls of this tool for this user go there? */
  covers(user: string, tool: string): Promise<(value: string) => boolean>;
}

interface Row {
  readonly user: string;
  readonly tool: string;
  readonly value: string;
  readonly added_at: string;
}

/** Stands for every user, or for every tool. */
const ANY = "";
const MAX_LENGTH = 2000;

export function createDestinations(sql: Sql): KnownDestinations {
  return {
    async covers(user, tool) {
      const find = `SELECT value FROM destinations WHERE "user" IN (?, '${ANY}') AND tool IN (?, '${ANY}')`;
      const rows = await sql.all<{ value: string }>(find, user, tool);
      const known = new Set(rows.map(({ value }) => value));
      return (value) => formsOf(value).some((form) => known.has(form));
    },

    async list(user) {
      const which = user === undefined ? "" : `WHERE "user" IN (?, '${ANY}')`;
      const find = `SELECT "user", tool, value, added_at FROM destinations ${which} ORDER BY value, tool, "user"`;
      const rows = await sql.all<Row>(find, ...(user === undefined ? [] : [user]));
      return rows.map((row) => ({
        value: row.value,
        tool: row.tool === ANY ? undefined : row.tool,
        user: row.user === ANY ? undefined : row.user,
        addedAt: row.added_at,
      }));
    },

    async add({ value, tool = ANY, user = ANY }) {
      const add = `INSERT INTO destinations ("user", tool, value, added_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`;
      return (await sql.run(add, user, tool, plain(value), new Date().toISOString())) > 0;
    },

    async remove({ value, tool = ANY, user = ANY }) {
      const remove = 'DELETE FROM destinations WHERE "user" = ? AND tool = ? AND value = ?';
      return (await sql.run(remove, user, tool, plain(value))) > 0;
    },
  };
}

/** The value as it is compared: names in lower case, while paths and links keep their case. */
function plain(value: string): string {
  const text = value.normalize("NFC").trim();
  if (text === "" || text.length > MAX_LENGTH || text.includes("\0")) {
    const message = `A destination has 1 to ${MAX_LENGTH} characters.`;
    throw new Fault("invalid", "bad_destination", message, { param: "value" });
  }
  return text.includes("/") ? text : text.toLowerCase();
}

/** A link is trusted where the list has it or its host. */
function formsOf(value: string): readonly string[] {
  if (value.trim() === "" || value.length > MAX_LENGTH) return [];
  const host = linkOf(value)?.isNormal ? URL.parse(value) : undefined;
  return [plain(value), ...(host && /^https?:$/.test(host.protocol) ? [host.host] : [])];
}

/** The destinations that a gate asks about. They are whole, while the gate shows only their beginnings. */
export function heldDestinations(gate: Extract<Gate, { type: "approval" }>): readonly string[] {
  const keyOf = (name: string, shown: string) => JSON.stringify([name, shown]);
  const held = new Set(
    (gate.doubts ?? []).flatMap(({ rule, param, value }) =>
      rule === "destination" ? keyOf(param.split(".").at(-1) ?? "", value) : [],
    ),
  );
  const values = [gate.call, ...(gate.others ?? [])].flatMap(({ params }) =>
    [...scalarsIn(JSON.parse(params), "")].flatMap(([name, value]) =>
      held.has(keyOf(name, shownValue(String(value)))) ? String(value) : [],
    ),
  );
  return [...new Set(values)];
}
