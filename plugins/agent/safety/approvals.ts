/** May this tool be called for this user: at once, after asking, or not at all. */

import { isIdentity } from "../../../kernel/kit/people.ts";
import { fingerprintOf } from "../../../kernel/kit/tools.ts";
import type { Env, Gate, Sql, ToolInfo } from "../../../kernel/plugin.ts";
import type { Approvals } from "../services.ts";

export type Verdict = "allow" | "ask" | "deny";

/** The operator's decisions by tool name; `*` stands for every tool not named. */
export type ApprovalRules = ReadonlyMap<string, Verdict>;

const ACCEPTED = 'entries like "weather=allow,mailer=deny,*=ask", each allow, ask or deny';

export function readApprovalRules(env: Env): ApprovalRules {
  const rules = new Map<string, Verdict>();
  for (const entry of env.list(
    "TOOL_APPROVALS",
    "Which tools run without asking, ask first, or never run; by default tools that can change things ask",
  )) {
    const match = /^([\w.-]+|\*)=(allow|ask|deny)$/.exec(entry);
    if (match === null) {
      env.refuse("TOOL_APPROVALS", ACCEPTED);
      break;
    }
    rules.set(match[1] as string, match[2] as Verdict);
  }
  return rules;
}

/** The operator's "deny" stands; what the user remembered answers any question; else rule, else default. */
export function judgeTool(
  tool: Pick<ToolInfo, "name" | "writes" | "asks">,
  rules: ApprovalRules,
  remembered: "allow" | "deny" | undefined,
): Verdict {
  const rule = rules.get(tool.name) ?? rules.get("*") ?? ((tool.asks ?? tool.writes) ? "ask" : "allow");
  return rule === "deny" ? "deny" : (remembered ?? rule);
}

export interface RememberedApprovals extends Approvals {
  /** Returns this user's decision on this very tool. */
  recall(user: string, tool: ToolInfo): Promise<"allow" | "deny" | undefined>;
  /** Tells the listeners of `onTrusted`. */
  trust(...trusted: Parameters<Trusted>): Promise<void>;
  /** Forgets every "allow" for what is no longer there as it was. */
  forgetOthers(user: string, tools: readonly ToolInfo[]): Promise<void>;
}

type Trusted = Parameters<Approvals["onTrusted"]>[0];

interface Row {
  readonly tool: string;
  readonly decision: "allow" | "deny";
  readonly fingerprint: string | null;
}

export function createApprovals(sql: Sql): RememberedApprovals {
  const listeners = new Set<Trusted>();
  const rows = (user: string) =>
    sql.all<Row>('SELECT tool, decision, fingerprint FROM approvals WHERE "user" = ? ORDER BY tool', user);
  const holds = ({ decision, fingerprint }: Row, tool: ToolInfo | undefined) =>
    decision === "deny" || (tool !== undefined && fingerprint === fingerprintOf(tool));

  return {
    async recall(user, tool) {
      const find = 'SELECT tool, decision, fingerprint FROM approvals WHERE "user" = ? AND tool = ?';
      const row = await sql.get<Row>(find, user, tool.name);
      return row && holds(row, tool) ? row.decision : undefined;
    },
    onTrusted(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async trust(user, answered) {
      for (const listener of listeners) await listener(user, answered);
    },
    async forgetOthers(user, tools) {
      const known = new Map(tools.map((tool) => [tool.name, tool]));
      const outdated = (await rows(user)).filter((row) => !holds(row, known.get(row.tool)));
      // Only what was read: it may have been allowed anew, as it is now, on another node.
      const forget = `DELETE FROM approvals
        WHERE "user" = ? AND tool = ? AND decision = 'allow' AND coalesce(fingerprint, '') = ?`;
      await Promise.all(
        outdated.map(({ tool, fingerprint }) => sql.run(forget, user, tool, fingerprint ?? "")),
      );
    },
    async remembered(user) {
      return Object.fromEntries((await rows(user)).map(({ tool, decision }) => [tool, decision]));
    },
    async remember(user, tool, decision, fingerprint) {
      const write = `INSERT INTO approvals ("user", tool, decision, fingerprint) VALUES (?, ?, ?, ?)
        ON CONFLICT ("user", tool) DO UPDATE SET decision = excluded.decision, fingerprint = excluded.fingerprint`;
      await sql.run(write, user, tool, decision, fingerprint ?? null);
    },
    async revoke(user, tool) {
      return (await sql.run('DELETE FROM approvals WHERE "user" = ? AND tool = ?', user, tool)) > 0;
    },
    async pending(user) {
      const find =
        'SELECT gate FROM threads INDEXED BY threads_waiting WHERE "user" = ? AND gate IS NOT NULL AND binned_at IS NULL';
      return waiting(await sql.all<{ gate: string }>(find, user));
    },
    async pendingOfIdentities() {
      const find = `SELECT "user", gate FROM threads INDEXED BY threads_waiting WHERE "user" LIKE '%/%' AND gate IS NOT NULL AND binned_at IS NULL`;
      const found = await sql.all<{ user: string; gate: string }>(find);
      return waiting(found.filter(({ user }) => isIdentity(user)));
    },
  };
}

/** The gates that a person can answer, oldest first, each with what else its row has. */
function waiting<Row extends { readonly gate: string }>(rows: readonly Row[]) {
  return rows
    .map(({ gate, ...row }) => ({ ...(JSON.parse(gate) as Gate), ...row }))
    .filter(({ type }) => type !== "external_tool")
    .sort((one, other) => one.openedAt.localeCompare(other.openedAt));
}
