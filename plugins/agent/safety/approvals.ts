/** May this tool be called for this user: at once, after asking, or not at all. */
import type { Approvals, Env, Gate, Sql, ToolInfo } from "../../../kernel/plugin.ts";

export type Verdict = "allow" | "ask" | "deny";

/** What the operator decided, by tool name; `*` stands for every tool not named. */
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
  tool: Pick<ToolInfo, "name" | "writes">,
  rules: ApprovalRules,
  remembered: "allow" | "deny" | undefined,
): Verdict {
  const rule = rules.get(tool.name) ?? rules.get("*") ?? (tool.writes ? "ask" : "allow");
  return rule === "deny" ? "deny" : (remembered ?? rule);
}

export function createApprovals(sql: Sql): Approvals {
  return {
    remembered: (user) =>
      Object.fromEntries(
        sql
          .all<{ tool: string; decision: "allow" | "deny" }>(
            "SELECT tool, decision FROM approvals WHERE user = ? ORDER BY tool",
            user,
          )
          .map(({ tool, decision }) => [tool, decision]),
      ),
    remember: (user, tool, decision) =>
      void sql.run(
        "INSERT INTO approvals (user, tool, decision) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET decision = excluded.decision",
        user,
        tool,
        decision,
      ),
    revoke: (user, tool) =>
      sql.run("DELETE FROM approvals WHERE user = ? AND tool = ?", user, tool).changes > 0,
    pending: (user) =>
      sql
        .all<{ gate: string }>(
          "SELECT gate FROM threads INDEXED BY threads_waiting WHERE user = ? AND gate IS NOT NULL",
          user,
        )
        .map(({ gate }) => JSON.parse(gate) as Gate)
        .filter(({ type }) => type !== "external_tool")
        .sort((one, other) => one.openedAt.localeCompare(other.openedAt)),
  };
}
