/** Calls from inside of another call: the rules of the turn hold for them, nobody is asked, and only the outer result is read. */
import { expect, test } from "vitest";
import type { TurnRecord } from "../../../../kernel/plugin.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";
import { type Code, codeTool } from "../../../support/services/code-tool.ts";

/** Runs one code in a turn of its own. */
async function runIn(code: Code, variables: Record<string, string> = {}, turn: Partial<Turn> = {}) {
  const model = await scriptedModel();
  const sent: unknown[] = [];
  const kernel = await bootAgent({
    model,
    variables: { MEMORY_VECTORS: "false", ...variables },
    tools: {
      run_code: codeTool({ it: code }),
      look: { run: (params) => ({ status: "ok", output: `saw ${JSON.stringify(params)}` }) },
      send: { writes: true, run: (params) => ({ status: "ok", output: `${sent.push(params)}` }) },
      sign: {
        run: () => ({ status: "unauthenticated", tool: "sign", secret: "sign_key", message: "Sign in." }),
      },
      quiz: {
        run: () => ({ status: "question", server: "quiz", questions: [], resume: "r" }),
      },
    },
  });
  model.script({ calls: [{ id: "c", name: "run_code", arguments: { code: "it" } }] }, { text: "Done." });
  const agent = kernel.service("agent");
  const record = await (await agent.run({ user: "ann", channel: "test", input: message("Go"), ...turn }))
    .record;
  return { record, value: valueIn(record), sent, model, kernel };
}

function valueIn({ items }: TurnRecord): unknown {
  const [output = "{}"] = items.flatMap((item) =>
    item.type === "tool_result" && item.outcome.status === "ok" ? [item.outcome.output] : [],
  );
  return JSON.parse(output).value;
}

/** What each of the calls gave, or was refused with. */
const tryAll =
  (...calls: [name: string, params?: object][]): Code =>
  async ({ call }) => {
    const outcomes = [];
    for (const [name, params] of calls)
      outcomes.push(await call(name, params).catch(({ message: why }: Error) => why));
    return outcomes;
  };

test("what would have to ask is refused inside with the sentence, and what need not ask is made", async () => {
  const { value, sent } = await runIn(
    tryAll(["send", { to: "x" }], ["look", { at: 1 }], ["sign"], ["quiz"], ["none"]),
  );
  const openly =
    "Nobody can be asked from inside of another call, so it was not made. Make it openly, as a tool call of its own.";
  expect(value).toEqual([
    `The tool send needs the user's approval. ${openly}`,
    'saw {"at":1}',
    `The tool sign needs the credential "sign_key". ${openly}`,
    `The server behind the tool quiz has a question for the user. ${openly}`,
    expect.stringContaining('There is no tool "none".'),
  ]);
  expect(sent).toEqual([]);
});

test("what the operator allows or denies, and what the token may use, holds inside too", async () => {
  const allowed = await runIn(tryAll(["send", { a: 1 }], ["look"]), {
    TOOL_APPROVALS: "send=allow,look=deny",
  });
  expect(allowed.value).toEqual(["1", "The tool look is not allowed here. Do not try it again."]);
  expect(await allowed.kernel.service("threads").hadSideEffects(allowed.record.id)).toBe(true);
  const scope = { token: "t1", tools: ["run_code"] };
  const scoped = await runIn(tryAll(["look"]), {}, { scope });
  expect(scoped.value).toEqual([expect.stringContaining("may not use the tool look")]);
  const chosen = await runIn(
    tryAll(["look"]),
    {},
    { answer: { toolChoice: { mode: "auto", names: ["run_code"] } } },
  );
  expect(chosen.value).toEqual([
    expect.stringContaining("Only these tools may be called in this request: run_code"),
  ]);
  const counted = await runIn(tryAll(["look"], ["look"]), {}, { answer: { maxToolCalls: 2 } });
  expect(counted.value).toEqual(["saw {}", expect.stringContaining("allows 2 tool calls")]);
});

test("of the agent's own tools those that only read can be called, and the caller's functions cannot", async () => {
  const code = tryAll(["memory_tree"], ["memory_write", { path: "a.md", text: "x" }], ["mine"]);
  const { value } = await runIn(code, {}, { answer: { tools: [{ name: "mine" }] } });
  expect(value).toEqual([
    expect.stringContaining("{"),
    "memory_write cannot be called from inside of another call. Call it openly.",
    expect.stringContaining("The tool mine belongs to the connected app."),
  ]);
});

test("the model reads the outer result alone, and the turn has one call", async () => {
  const { model, record } = await runIn(async ({ call }) => {
    for (let at = 0; at < 20; at++) await call("look", { at, long: "x".repeat(1000) });
    return "twenty";
  });
  expect(record.items.filter(({ type }) => type === "tool_call")).toHaveLength(1);
  expect(record.items.filter(({ type }) => type === "tool_result")).toHaveLength(1);
  expect(JSON.stringify(model.requests[1])).toContain("twenty");
  expect(JSON.stringify(model.requests[1])).not.toContain("saw");
});
