import { expect, test } from "vitest";
import type { Gate, TurnRecord } from "../../../../kernel/plugin.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";
import { createTurnedClock } from "../../../support/services/turned-clock.ts";

const PROPOSAL = { schedule: "weekdays at 8:00", tz: "Europe/Berlin", text: "Summarise my open issues" };
const propose = (given: object = PROPOSAL) => ({ calls: [{ name: "routine_propose", arguments: given }] });

async function boot(variables: Readonly<Record<string, string>> = {}) {
  const model = await scriptedModel();
  const clock = createTurnedClock("2026-11-16T07:00:00Z");
  const kernel = await bootAgent({ model, clock, variables });
  const agent = kernel.service("agent");
  const say = async (text: string, more: Partial<Turn> = {}): Promise<TurnRecord> =>
    (await agent.run({ user: "ann", channel: "test", input: message(text), ...more })).record;
  const answer = async ({ gate, thread }: TurnRecord, decision: "once" | "deny") =>
    (
      await agent.run({
        user: "ann",
        channel: "test",
        thread,
        input: { type: "approval", gate: (gate as Gate).id, decision },
      })
    ).record;
  return { model, clock, say, answer, routines: kernel.service("routines") };
}

const outcomes = ({ items }: TurnRecord) =>
  items.flatMap((item) => (item.type === "tool_result" ? [item.outcome] : []));

test("the agent proposes a routine at a gate in words, and only a person's yes makes it", async () => {
  // Not even what the operator allows for all tools, or for this one, does.
  const { model, say, answer, routines } = await boot({ TOOL_APPROVALS: "*=allow,routine_propose=allow" });
  model.script(propose(), { text: "Every weekday, then." }, propose(), { text: "All right, no." });
  const asked = await say("Tell me about my issues each weekday");
  expect(asked).toMatchObject({
    status: "waiting",
    gate: {
      type: "approval",
      grants: [
        "every weekday at 8:00 (Europe/Berlin): Summarise my open issues",
        expect.stringContaining("nobody can be asked then"),
      ],
    },
  });
  expect(await routines.list()).toEqual([]);
  const agreed = await answer(asked, "once");
  expect(outcomes(agreed)).toMatchObject([
    { status: "ok", output: expect.stringContaining("every weekday at 8:00") },
  ]);
  expect(await routines.list("ann")).toMatchObject([{ ...PROPOSAL, status: "active", user: "ann" }]);
  await answer(await say("Once more"), "deny");
  expect(await routines.list()).toHaveLength(1);
});

test("what cannot be made is refused before anybody is asked", async () => {
  const { model, say, routines } = await boot();
  const scope = { token: "t1", tools: ["routine_propose"] };
  for (const [given, more, code] of [
    [{ ...PROPOSAL, schedule: "whenever" }, {}, "bad_schedule"],
    [{ ...PROPOSAL, schedule: "tomorrow at 9" }, {}, "bad_schedule"],
    [{ ...PROPOSAL, tz: "Mars/Olympus" }, {}, "bad_time_zone"],
    [{ ...PROPOSAL, text: " " }, {}, "empty_text"],
    [PROPOSAL, { scope }, "scoped_token"],
    [PROPOSAL, { user: "webhook/ann" }, "not_an_account"],
  ] as const) {
    model.script(propose(given), { text: "It did not work." });
    const record = await say("Do it each day", more);
    expect(outcomes(record)).toMatchObject([{ status: "error", code }]);
    expect(record.status).toBe("completed");
  }
  expect(await routines.list()).toEqual([]);
});

test("a delay counts from the person's yes, and the gate says so", async () => {
  const { model, clock, say, answer, routines } = await boot();
  model.script(propose({ schedule: "in 20 minutes", text: "Remind me to call Bob" }));
  const asked = await say("Remind me in twenty minutes to call Bob");
  expect(asked.gate).toMatchObject({
    grants: ["once, 20 minutes after you agree: Remind me to call Bob", expect.any(String)],
  });
  clock.turnTo("2026-11-16T08:00:00Z");
  await answer(asked, "once");
  expect(await routines.list()).toMatchObject([{ nextAt: "2026-11-16T08:20:00.000Z" }]);
});

test("a routine cannot propose routines: the tool is not there in its turns", async () => {
  const { model, clock, routines } = await boot();
  model.script(propose(), { text: "I cannot." });
  const { id } = await routines.add({ user: "ann", schedule: "in 1 minute", text: "Make more of yourself" });
  clock.turnTo("2026-11-16T07:01:00Z");
  await expect.poll(async () => (await routines.runs(id)).items[0]).toMatchObject({ status: "completed" });
  const [first, second] = model.requests;
  expect(first?.tools?.map((tool) => tool.function.name)).not.toContain("routine_propose");
  expect(second?.messages.at(-1)?.content).toContain("There is no tool");
  expect(await routines.list()).toHaveLength(1);
});
