import { expect, test } from "vitest";
import { Settings } from "../../../../kernel/settings/env.ts";
import { judgeTool, readApprovalRules } from "../../../../plugins/agent/safety/approvals.ts";

const rulesOf = (text: string) => readApprovalRules(new Settings({ TOOL_APPROVALS: text }).for("agent"));

test("a tool that can change things asks, one that only reads does not", () => {
  expect(judgeTool({ name: "mailer", writes: true }, new Map(), undefined)).toBe("ask");
  expect(judgeTool({ name: "weather", writes: false }, new Map(), undefined)).toBe("allow");
});

test("a rule by name wins over the star, and the star over the default", () => {
  const rules = rulesOf("weather=allow,*=ask");
  expect(judgeTool({ name: "weather", writes: true }, rules, undefined)).toBe("allow");
  expect(judgeTool({ name: "other", writes: false }, rules, undefined)).toBe("ask");
});

test("what the user remembered answers a question, but never overrules the operator's deny", () => {
  expect(judgeTool({ name: "mailer", writes: true }, new Map(), "allow")).toBe("allow");
  expect(judgeTool({ name: "weather", writes: false }, new Map(), "deny")).toBe("deny");
  expect(judgeTool({ name: "mailer", writes: true }, rulesOf("mailer=deny"), "allow")).toBe("deny");
});

test("a rule that cannot be read is a configuration problem that says what is accepted", () => {
  const settings = new Settings({ TOOL_APPROVALS: "weather:yes" });
  readApprovalRules(settings.for("agent"));
  expect(settings.problems).toMatchObject([
    { name: "TOOL_APPROVALS", accepted: expect.stringContaining("=allow") },
  ]);
});
