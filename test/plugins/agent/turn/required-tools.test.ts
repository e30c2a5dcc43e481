import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ToolOutcome } from "../../../../kernel/plugin.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { testOnSqlite } from "../../../support/run/engine.ts";
import type { ModelReply } from "../../../support/servers/model-server.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

const FAILS: ToolOutcome = { status: "error", code: "down", message: "The harbour is closed." };
const WORKS: ToolOutcome = { status: "ok", output: "12 ships" };
const ASK = { user: "ann", channel: "test", input: message("How many ships?") } as const;
const call = (name: string, params: object = {}): ModelReply => ({ calls: [{ name, arguments: params }] });
const FAILURE = {
  status: "failed",
  error: {
    code: "required_tool_failed",
    message: 'The required tool "ships" failed: The harbour is closed.',
  },
};

/** The agent with the tool `ships`, whose calls end like this one after the other, and `mail`, which asks first. */
async function agentWith(outcomes: readonly ToolOutcome[], script: readonly ModelReply[], home?: string) {
  const model = await scriptedModel();
  model.script(...script);
  const left = [...outcomes];
  const tools = {
    ships: { run: () => left.shift() ?? WORKS },
    mail: { writes: true, run: () => WORKS },
  };
  const kernel = await bootAgent({ model, tools, ...(home !== undefined && { home }) });
  return { agent: kernel.service("agent"), kernel };
}

test("§7.2 a required tool whose last call failed fails the turn, and what was said is kept", async () => {
  const { agent } = await agentWith([FAILS], [call("ships"), { text: "I could not find out." }]);
  const record = await (await agent.run({ ...ASK, answer: { requiredTools: ["ships"] } })).record;
  expect(record).toMatchObject(FAILURE);
  expect(record.items.at(-1)).toMatchObject({ role: "assistant", text: "I could not find out." });
});

test("a required tool may fail before it works, may not be called at all, and others may fail", async () => {
  const again = await agentWith([FAILS, WORKS], [call("ships"), call("ships"), { text: "Twelve." }]);
  expect(
    (await (await again.agent.run({ ...ASK, answer: { requiredTools: ["ships"] } })).record).status,
  ).toBe("completed");
  const other = await agentWith([FAILS], [call("ships"), { text: "Unknown." }]);
  expect((await (await other.agent.run({ ...ASK, answer: { requiredTools: ["mail"] } })).record).status).toBe(
    "completed",
  );
});

test("what is required stays so over a gate, and a denied call counts as failed", async () => {
  const home = temporaryFolder();
  const { agent, kernel } = await agentWith([FAILS], [call("ships"), call("mail"), { text: "Sent." }], home);
  const waiting = await (await agent.run({ ...ASK, answer: { requiredTools: ["ships"] } })).record;
  expect(waiting.status).toBe("waiting");
  const decide = (decision: "once" | "deny", gate = waiting.gate) =>
    ({
      ...ASK,
      thread: waiting.thread,
      input: { type: "approval", gate: gate?.id ?? "", decision },
    }) as const;
  expect(await (await agent.run(decide("once"))).record).toMatchObject(FAILURE);
  await kernel.stop();

  const next = await agentWith([], [call("mail"), { text: "Then not." }], home);
  const asked = await (
    await next.agent.run({ ...ASK, thread: waiting.thread, answer: { requiredTools: ["mail"] } })
  ).record;
  const denied = await (await next.agent.run(decide("deny", asked.gate))).record;
  expect(denied).toMatchObject({ status: "failed", error: { code: "required_tool_failed" } });
});

testOnSqlite(
  "a skill requires tools in the turns that load it, a mission in all turns of its user",
  async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, "skills/count"), { recursive: true });
    writeFileSync(
      join(home, "skills/count/SKILL.md"),
      "---\ndescription: Counting ships\nrequired_tools:\n- ships\n- 'mail'\n---\nCount them.",
    );
    const { agent, kernel } = await agentWith(
      [FAILS, FAILS, FAILS],
      [
        call("ships"),
        { text: "Unknown." },
        { calls: [{ name: "skill_load", arguments: { name: "count" } }] },
        call("ships"),
        { text: "Unknown." },
        call("mission_create", { goal: "count", required_tools: ["ships"] }),
        { text: "I will." },
        call("ships"),
        { text: "Unknown." },
      ],
      home,
    );
    expect((await (await agent.run(ASK)).record).status).toBe("completed");
    expect(await (await agent.run(ASK)).record).toMatchObject(FAILURE);
    const asked = await (await agent.run(ASK)).record;
    expect(asked.gate).toMatchObject({
      grants: [expect.any(String), expect.stringContaining("one of these tools failed: ships")],
    });
    const input = { type: "approval", gate: asked.gate?.id ?? "", decision: "once" } as const;
    expect((await (await agent.run({ ...ASK, thread: asked.thread, input })).record).status).toBe(
      "completed",
    );
    expect(await (await agent.run(ASK)).record).toMatchObject(FAILURE);
    expect(kernel.logged.join("")).not.toContain("because of a bug");
  },
);
