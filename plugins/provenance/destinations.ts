/**
 * What calls may do although somebody else said it: go to a destination, for one user or for everybody, or what a rule of a user allows
 * in one parameter of one tool.
 */
import { sayRule } from "../../kernel/kit/display.ts";
import { fingerprintOf } from "../../kernel/kit/tools.ts";
import type { ParamRule } from "../../kernel/kit/turns.ts";
import { Fault, type Gate, type Sql, type ToolInfo } from "../../kernel/plugin.ts";
import { HUNDREDTHS, type Use } from "./call/param-rules.ts";
import { linkOf } from "./person/identifiers.ts";
import { shownValue } from "./sentences.ts";
import type { Destinations } from "./services.ts";
import { scalarsIn } from "./trace.ts";

export interface KnownDestinations extends Destinations {
  /** Returns a check: may calls of this tool for this user go there? */
  covers(user: string, tool: string): Promise<(value: string) => boolean>;
  /** Keeps a rule that the user agreed to, in place of one that differs from it only in its limit. */
  agree(agreed: AgreedRule): Promise<void>;
  /** Returns the user's rules for this tool as it is. */
  rulesFor(user: string, tool: ToolInfo): Promise<readonly ParamRule[]>;
  /** Deletes the user's rules for tools that have changed or are gone. */
  dropRules(user: string, installed: ReadonlyMap<string, ToolInfo>): Promise<void>;
  /** Counts what rules are about to allow. False where one was taken back, or has allowed as much as it may on one day. */
  use(user: string, tool: string, uses: readonly Use[]): Promise<boolean>;
}

interface AgreedRule {
  readonly user: string;
  readonly tool: string;
  readonly rule: ParamRule;
  readonly fingerprint: string;
}

/** So many calls a day are answered by one rule, whatever they come to. */
const MAX_USES = 20;

interface Row {
  readonly user: string;
  readonly tool: string;
  readonly value: string;
  readonly added_at: string;
  readonly rule: string | null;
}

interface Counted {
  readonly value: string;
  readonly rule: string;
  readonly day: string | null;
  readonly uses: number;
  readonly spent: number;
}

/** Stands for every user, or for every tool. */
const ANY = "";
const MAX_LENGTH = 2000;

export function createDestinations(sql: Sql): KnownDestinations {
  return {
    async covers(user, tool) {
      const find = `SELECT value FROM destinations WHERE "user" IN (?, '${ANY}') AND tool IN (?, '${ANY}') AND rule IS NULL`;
      const rows = await sql.all<{ value: string }>(find, user, tool);
      const known = new Set(rows.map(({ value }) => value));
      return (value) => formsOf(value).some((form) => known.has(form));
    },

    async list(user) {
      const which = user === undefined ? "" : `WHERE "user" IN (?, '${ANY}')`;
      const find = `SELECT "user", tool, value, added_at, rule FROM destinations ${which} ORDER BY value, tool, "user"`;
      const rows = await sql.all<Row>(find, ...(user === undefined ? [] : [user]));
      return rows.map((row) => ({
        value: row.value,
        tool: row.tool === ANY ? undefined : row.tool,
        user: row.user === ANY ? undefined : row.user,
        ...(row.rule !== null && { rule: JSON.parse(row.rule) as ParamRule }),
        addedAt: row.added_at,
      }));
    },

    async agree({ user, tool, rule, fingerprint }) {
      const isSame = ({ kind, param, unit, limit }: ParamRule) =>
        kind === rule.kind &&
        param === rule.param &&
        unit === rule.unit &&
        (kind === "amount" || limit === rule.limit);
      await sql.transaction(async (tx) => {
        const find = `SELECT value, rule, day, uses, spent FROM destinations
          WHERE "user" = ? AND tool = ? AND rule IS NOT NULL`;
        const rows = await tx.all<Counted>(find, user, tool);
        const before = rows.filter((row) => isSame(JSON.parse(row.rule)));
        for (const { value } of before)
          await tx.run(
            'DELETE FROM destinations WHERE "user" = ? AND tool = ? AND value = ?',
            user,
            tool,
            value,
          );
        // What was allowed today still counts.
        const { day = null, uses = 0, spent = 0 } = before[0] ?? {};
        const { kind, param, limit, unit } = rule;
        const kept = JSON.stringify({ kind, param, limit, unit });
        const add = `INSERT INTO destinations ("user", tool, value, added_at, rule, fingerprint, day, uses, spent)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT ("user", tool, value) DO UPDATE
          SET rule = excluded.rule, fingerprint = excluded.fingerprint`;
        const at = new Date().toISOString();
        await tx.run(add, user, tool, sayRule(rule), at, kept, fingerprint, day, uses, spent);
      });
    },

    async rulesFor(user, tool) {
      const find = 'SELECT rule FROM destinations WHERE "user" = ? AND tool = ? AND fingerprint = ?';
      const rows = await sql.all<{ rule: string }>(find, user, tool.name, fingerprintOf(tool));
      return rows.map(({ rule }) => JSON.parse(rule) as ParamRule);
    },

    async dropRules(user, installed) {
      const find =
        'SELECT DISTINCT tool, fingerprint FROM destinations WHERE "user" = ? AND rule IS NOT NULL';
      for (const { tool, fingerprint } of await sql.all<{ tool: string; fingerprint: string }>(find, user)) {
        const now = installed.get(tool);
        if (now && fingerprintOf(now) === fingerprint) continue;
        const drop = 'DELETE FROM destinations WHERE "user" = ? AND tool = ? AND fingerprint = ?';
        await sql.run(drop, user, tool, fingerprint);
      }
    },

    async use(user, tool, uses) {
      const day = new Date().toISOString().slice(0, 10);
      const today = (column: string) => `CASE WHEN day = '${day}' THEN ${column} ELSE 0 END`;
      const count = `UPDATE destinations SET uses = ${today("uses")} + 1, spent = ${today("spent")} + ?, day = '${day}'
        WHERE "user" = ? AND tool = ? AND value = ? AND rule IS NOT NULL
        AND ${today("uses")} < ${MAX_USES} AND ${today("spent")} + ? <= ?`;
      for (const { rule, amount } of uses) {
        const most = rule.kind === "amount" ? Math.round(Number(rule.limit) * HUNDREDTHS) : 0;
        if ((await sql.run(count, amount, user, tool, sayRule(rule), amount, most)) === 0) return false;
      }
      return true;
    },

    async add({ value, tool = ANY, user = ANY }) {
      const add = `INSERT INTO destinations ("user", tool, value, added_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`;
      return (await sql.run(add, user, tool, plain(value), new Date().toISOString())) > 0;
    },

    async remove({ value, tool = ANY, user = ANY }) {
      const remove =
        'DELETE FROM destinations WHERE "user" = ? AND tool = ? AND (value = ? OR (value = ? AND rule IS NOT NULL))';
      return (await sql.run(remove, user, tool, plain(value), value.trim())) > 0;
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
