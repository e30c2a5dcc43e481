/** The destinations that calls may go to although somebody else named them: for one user, or for everybody. */
import type { TrustedDestination } from "../../kernel/kit.ts";
import { Fault, type Gate, type Sql } from "../../kernel/plugin.ts";
import { shownValue } from "./sentences.ts";
import type { Destinations } from "./services.ts";
import { scalarsIn } from "./trace.ts";

export interface KnownDestinations extends Destinations {
  /** Returns a check: may calls of this tool for this user go there? */
  covers(user: string, tool: string): Promise<(value: string) => boolean>;
}

/** Stands for every user, or for every tool. */
const ANY = "";
const MAX_LENGTH = 2000;

export function createDestinations(sql: Sql): KnownDestinations {
  return {
    async covers(user, tool) {
      const rows = await sql.all<{ value: string }>(
        `SELECT value FROM destinations WHERE "user" IN (?, '${ANY}') AND tool IN (?, '${ANY}')`,
        user,
        tool,
      );
      const known = new Set(rows.map(({ value }) => value));
      return (value) => formsOf(value).some((form) => known.has(form));
    },

    async list(user) {
      const rows = await sql.all<{ user: string; tool: string; value: string; added_at: string }>(
        `SELECT "user", tool, value, added_at FROM destinations
         ${user === undefined ? "" : `WHERE "user" IN (?, '${ANY}')`} ORDER BY value, tool, "user"`,
        ...(user === undefined ? [] : [user]),
      );
      return rows.map(
        (row): TrustedDestination => ({
          value: row.value,
          tool: row.tool === ANY ? undefined : row.tool,
          user: row.user === ANY ? undefined : row.user,
          addedAt: row.added_at,
        }),
      );
    },

    async add({ value, tool, user }) {
      const added = await sql.run(
        `INSERT INTO destinations ("user", tool, value, added_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        user ?? ANY,
        tool ?? ANY,
        plain(value),
        new Date().toISOString(),
      );
      return added > 0;
    },

    async remove({ value, tool, user }) {
      const gone = await sql.run(
        'DELETE FROM destinations WHERE "user" = ? AND tool = ? AND value = ?',
        user ?? ANY,
        tool ?? ANY,
        plain(value),
      );
      return gone > 0;
    },
  };
}

/** The value as it is compared: names in lower case, while paths and links keep their case. */
function plain(value: string): string {
  const text = value.normalize("NFC").trim();
  if (text === "" || text.length > MAX_LENGTH || text.includes("\0"))
    throw new Fault("invalid", "bad_destination", `A destination has 1 to ${MAX_LENGTH} characters.`, {
      param: "value",
    });
  return text.includes("/") ? text : text.toLowerCase();
}

/** A link is trusted where the list has it or its host. */
function formsOf(value: string): readonly string[] {
  if (value.trim() === "" || value.length > MAX_LENGTH) return [];
  const link = URL.parse(value.trim());
  return [plain(value), ...(link && /^https?:$/.test(link.protocol) ? [link.host.toLowerCase()] : [])];
}

/** The destinations that a gate asks about. They are whole, while the gate shows only their beginnings. */
export function heldDestinations(gate: Extract<Gate, { type: "approval" }>): readonly string[] {
  const shown = new Set(
    (gate.doubts ?? []).flatMap(({ rule, value }) => (rule === "destination" ? value : [])),
  );
  const values = [gate.call, ...(gate.others ?? [])].flatMap(({ params }) =>
    [...scalarsIn(JSON.parse(params), "")].flatMap(([, value]) =>
      shown.has(shownValue(String(value))) ? String(value) : [],
    ),
  );
  return [...new Set(values)];
}
