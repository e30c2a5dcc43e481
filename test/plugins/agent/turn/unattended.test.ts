import { expect, test } from "vitest";
import type { TurnItem } from "../../../../kernel/plugin.ts";
import { bootAgent, message, scriptedModel, type TestTool } from "../../../support/services/agent.ts";

const sent: unknown[] = [];
const TOOLS: Readonly<Record<string, TestTool>> = {
  mailer: {
    writes: true,
    run: (params) => {
      sent.push(params);
      return { status: "ok", output: "sent" };
    },
  },
  calendar: {
    run: () => ({ status: "unauthenticated", tool: "calendar", secret: "calendar_key", message: "no key" }),
  },
  files: {
    run: () => ({
      status: "question",
      server: "files",
      resume: "1",
      questions: [
        { key: "which", type: "form", message: "Which file?", schema: { type: "object", properties: {} } },
      ],
    }),
  },
};

test("a turn that nobody watches waits at no gate: the model is told that the call needs a person", async () => {
  const model = await scriptedModel();
  model.script(
    {
      calls: [
        { id: "c1", name: "mailer", arguments: { to: "bob" } },
        { id: "c2", name: "calendar", arguments: {} },
        { id: "c3", name: "files", arguments: {} },
      ],
    },
    { text: "I could not send it." },
  );
  const kernel = await bootAgent({ model, tools: TOOLS });
  const turn = await kernel
    .service("agent")
    .run({ user: "ann", channel: "test", input: message("Mail bob"), work: { unattended: true } });
  const record = await turn.record;
  expect(record).toMatchObject({ status: "completed" });
  expect(record.gate).toBeUndefined();
  const outcomes = record.items.flatMap((item: TurnItem) =>
    item.type === "tool_result" ? [item.outcome] : [],
  );
  expect(outcomes).toMatchObject([
    {
      status: "error",
      code: "approval_required",
      message: expect.stringContaining("needs a person's approval."),
    },
    { status: "error", code: "authentication_required", message: expect.stringContaining('"calendar_key"') },
    {
      status: "error",
      code: "question_required",
      message: expect.stringContaining("a question for a person"),
    },
  ]);
  expect(sent).toEqual([]);
  expect(await kernel.service("approvals").pending("ann")).toEqual([]);
});

test("a turn with a budget stops before the request that comes after it is spent", async () => {
  const model = await scriptedModel();
  model.otherwise({
    usage: { input: 1_000_000, output: 0 },
    calls: [{ id: "c1", name: "memory_search", arguments: { query: "x" } }],
  });
  const kernel = await bootAgent({ model, variables: { MODEL_NAME: "gpt-4o" } });
  const turn = await kernel
    .service("agent")
    .run({ user: "ann", channel: "test", input: message("Go on"), work: { budgetUsd: 4 } });
  expect(await turn.record).toMatchObject({
    status: "failed",
    error: {
      code: "budget_spent",
      message: "This run has used $5.00, and its budget is $4.00, so it was stopped.",
    },
  });
  expect(model.requests).toHaveLength(2);
});
