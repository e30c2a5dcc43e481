import fc from "fast-check";
import { expect, test } from "vitest";
import type { TurnItem } from "../../../../kernel/plugin.ts";
import { leaveOut } from "../../../../plugins/agent/context/truncation.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import type { RenderedMessage } from "../../../../plugins/agent/threads/tokens.ts";
import { estimateTokens } from "../../../../plugins/agent/threads/tokens.ts";
import type { ModelServer } from "../../../support/servers/model-server.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

const FIND = { name: "find", parameters: { type: "object" } };

/** Rounds of calls as a client replays them: about so many bytes. */
function replay(rounds: number, bytes = 1400): TurnItem[] {
  const items: TurnItem[] = [{ type: "message", id: "", role: "user", text: "Find all of it." }];
  for (let n = 1; n <= rounds; n++) {
    const call = { id: `call_${n}`, name: "find", params: `{"n":${n}}` };
    const output = `result ${n} ${"word ".repeat(bytes / 5)}`;
    items.push(
      { type: "tool_call", id: "", call, external: true },
      { type: "tool_result", id: "", call: call.id, outcome: { status: "ok", output } },
    );
  }
  return items;
}

async function start(window = "32000") {
  const model = await scriptedModel();
  const kernel = await bootAgent({ model, variables: { MODEL_CONTEXT_TOKENS: window } });
  const run = async (turn: Partial<Turn>) => {
    const running = await kernel.service("agent").run({
      user: "ann",
      channel: "test",
      input: message(""),
      ...turn,
      answer: { tools: [FIND], ...turn.answer },
    });
    return await running.record;
  };
  return { model, run };
}

const asked = ({ requests }: ModelServer) => JSON.stringify(requests.at(-1)?.messages);

test("a replayed transcript of 85 kB in a window of 34k is shown whole, and nothing is summarised", async () => {
  const { model, run } = await start("33600");
  const record = await run({
    preamble: { history: replay(60), isReplay: true },
    answer: { truncation: "disabled" },
  });
  expect(record.status).toBe("completed");
  expect(model.requests).toHaveLength(1);
  for (const n of [1, 30, 60]) expect(asked(model)).toContain(`result ${n} `);
});

test("input that does not fit fails with context_length_exceeded before the model is asked", async () => {
  const { model, run } = await start("8000");
  const history = replay(60);
  for (const turn of [
    { preamble: { history, isReplay: true } },
    { preamble: { history } },
    { input: message("word ".repeat(8000)) },
  ] as const) {
    const { error } = await run({ ...turn, answer: { truncation: "disabled" } });
    expect(error).toMatchObject({
      code: "context_length_exceeded",
      message: expect.stringMatching(/about [\d,]+ tokens.* 8,000 leaves [\d,]+ /),
    });
  }
  expect(model.requests).toEqual([]);
});

test('truncation "auto" leaves whole rounds out of the middle', async () => {
  const { model, run } = await start("8000");
  const instructions = { type: "message", id: "", role: "system", text: "Be brief." } as const;
  const { status } = await run({
    preamble: { history: [instructions, ...replay(60)] },
    answer: { truncation: "auto" },
  });
  expect(status).toBe("completed");
  expect(model.requests).toHaveLength(1);
  const messages = model.requests[0]?.messages.slice(1) ?? [];
  expect(messages.slice(0, 2).map(({ content }) => content)).toEqual([
    "<instructions>\nBe brief.\n</instructions>",
    "Find all of it.",
  ]);
  expect(asked(model)).toContain("result 60 ");
  expect(asked(model)).not.toContain("result 1 ");
  const rounds = messages.slice(2);
  expect(rounds.length).toBeGreaterThan(4);
  for (const [at, { role, tool_calls, tool_call_id }] of rounds.entries()) {
    expect(role).toBe(at % 2 === 0 ? "assistant" : "tool");
    if (role === "assistant") expect(tool_calls?.[0]?.id).toBe(rounds[at + 1]?.tool_call_id);
    else expect(tool_call_id).toBe(rounds[at - 1]?.tool_calls?.[0]?.id);
  }
});

test("a loop of sixty rounds on one thread ends, though its beginning has been summarised", async () => {
  const { model, run } = await start("8000");
  let rounds = 0;
  model.otherwise(({ messages }) => {
    if (String(messages[0]?.content).startsWith("Summarise")) return { text: "They look for something." };
    const last = messages.at(-1);
    const isAnswered = rounds === 0 || String(last?.content).includes(`result ${rounds} `);
    if (!isAnswered || rounds === 60) return { text: isAnswered ? "All found." : "Lost." };
    rounds += 1;
    return { calls: [{ id: `call_${rounds}`, name: "find", arguments: { n: rounds } }] };
  });
  let record = await run({ input: message("Find all of it."), answer: { truncation: "disabled" } });
  while (record.gate !== undefined)
    record = await run({
      thread: record.thread,
      after: record.id,
      input: {
        type: "tool_output",
        call: record.gate.call.id,
        output: `result ${rounds} ${"word ".repeat(280)}`,
      },
      answer: { truncation: "disabled" },
    });
  expect(record.items.at(-1)).toMatchObject({ text: "All found." });
  expect(rounds).toBe(60);
  for (const { messages } of model.requests) {
    let open: string[] = [];
    for (const { role, tool_calls, tool_call_id } of messages) {
      if (role === "tool") {
        expect(open).toContain(tool_call_id);
        open = open.filter((id) => id !== tool_call_id);
      } else expect(open).toEqual([]);
      if (role === "assistant") open = (tool_calls ?? []).map(({ id }) => id);
    }
    expect(open).toEqual([]);
  }
});

test("what is stored before a request is still compacted for it, and the request is not", async () => {
  const { model, run } = await start("5300");
  model.otherwise(({ messages }) => ({
    text: String(messages[0]?.content).startsWith("Summarise") ? "They talked." : "ok",
  }));
  let record = await run({ input: message(`Number 1 ${"word ".repeat(400)}`) });
  for (const n of [2, 3, 4, 5])
    record = await run({ thread: record.thread, input: message(`Number ${n} ${"word ".repeat(400)}`) });
  const history = replay(3, 2000);
  const next = { thread: record.thread, after: record.id, answer: { truncation: "disabled" } } as const;
  expect((await run({ ...next, preamble: { history }, input: message("And now?") })).status).toBe(
    "completed",
  );
  expect(asked(model)).toContain("They talked.");
  for (const n of [1, 2, 3]) expect(asked(model)).toContain(`result ${n} word`);
});

test("whatever is left out, calls keep their results and the ends stay", () => {
  const call = (id: string) => ({ id, name: "find", params: "{}" });
  const unit = fc.oneof(
    fc.constant<readonly RenderedMessage[]>([{ role: "user", text: "question" }]),
    fc.constant<readonly RenderedMessage[]>([{ role: "assistant", text: "answer", calls: [] }]),
    fc.integer({ min: 1, max: 3 }).map((count): readonly RenderedMessage[] => {
      const calls = Array.from({ length: count }, (_, at) => call(`c${at}`));
      return [
        { role: "assistant", text: "", calls },
        ...calls.map((each): RenderedMessage => ({ role: "tool", call: each, output: "out", failed: false })),
      ];
    }),
  );
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 20 }), fc.integer({ min: 0, max: 300 }), (units, excess) => {
      // Each its own object, as in a request.
      const messages = units.flat().map((each) => ({ ...each }));
      const kept = leaveOut(messages, excess);
      const size = (list: readonly RenderedMessage[]) =>
        list.reduce((sum, each) => sum + estimateTokens(each), 0);
      const lastWord = messages.findLastIndex(({ role }) => role === "assistant");
      const first = messages.find(({ role }) => role === "user");
      if (kept === undefined) return;
      expect(size(kept)).toBeLessThanOrEqual(Math.max(size(messages) - excess, 0));
      const end = messages.slice(lastWord + 1);
      expect(kept.slice(kept.length - end.length)).toEqual(end);
      if (first) expect(kept).toContain(first);
      let open = 0;
      for (const each of kept) {
        if (each.role === "tool") open -= 1;
        else expect(open).toBe(0);
        if (each.role === "assistant") open = each.calls.length;
      }
      expect(open).toBe(0);
    }),
  );
});
