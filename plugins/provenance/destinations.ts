/** Where calls may go although somebody else named it: for a user, or for everybody. */

import { Fault, type Gate, type Sql, type TrustedDestination } from "../../kernel/plugin.ts";
import { shownValue } from "./sentences.ts";
import type { Destinations } from "./services.ts";
import { scalarsIn } from "./trace.ts";

export interface KnownDestinations extends Destinations {
  /** Whether calls of this tool for this user may go there. */
  covers(user: string, tool: string): Promise<(value: string) => boolean>;
}

/** Stands for every user, or for every tool. */
const ANY = "";
const LONGEST = 2000;

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
          ...(row.tool !== ANY && { tool: row.tool }),
          ...(row.user !== ANY && { user: row.user }),
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

/** As it is compared: a name without upper case; a path or the rest of a link keeps it. */
function plain(value: string): string {
  const text = value.normalize("NFC").trim();
  if (text === "" || text.length > LONGEST || text.includes("\0"))
    throw new Fault("invalid", "bad_destination", `A destination has 1 to ${LONGEST} characters.`, {
      param: "value",
    });
  return text.includes("/") ? text : text.toLowerCase();
}

/** A link is trusted where it, or its host, is in the list. */
function formsOf(value: string): readonly string[] {
  if (value.trim() === "" || value.length > LONGEST) return [];
  const link = URL.parse(value.trim());
  return [plain(value), ...(link && /^https?:$/.test(link.protocol) ? [link.host.toLowerCase()] : [])];
}

/** The destinations among the values that are asked about: whole, where the gate shows their beginnings. */
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
