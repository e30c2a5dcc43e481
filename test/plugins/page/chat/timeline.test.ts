import { expect, test } from "vitest";
import { EMPTY, type Timeline, withEarlier, withNewest } from "../../../../plugins/page/state/timeline.ts";
import { begun, fold, type TurnView } from "../../../../plugins/page/state/turn-view.ts";
import type { Turn, TurnPage } from "../../../../plugins/page/state/wire.ts";

const USAGE: Turn["usage"] = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cost: 0,
  cost_details: { input_cost_usd: "0", output_cost_usd: "0", total_cost_usd: "0", currency: "USD" },
};

function pageOf(first: number, last: number): TurnPage {
  const turns = Array.from({ length: last - first + 1 }, (_, index): Turn => {
    const id = `turn ${first + index}`;
    return {
      id,
      thread_id: "thread",
      after: null,
      channel: "gateway",
      status: "completed",
      input: { type: "message", text: id },
      items: [],
      model: { provider: "builtin", name: "builtin" },
      usage: USAGE,
      created_at: new Date(first + index).toISOString(),
    };
  });
  return { turns, versions: [], next: first === 1 ? null : `before ${first}` };
}

const numbers = ({ turns }: Timeline) => turns.map(({ id }) => Number(id.split(" ")[1]));
const running = (number: number) => begun(`turn ${number}`, "thread", undefined);

test("earlier pages stay in front of the newest one, and lead on from where they began", () => {
  const shown = withEarlier(withNewest(EMPTY, pageOf(5, 6)), pageOf(3, 4));
  const reread = withNewest(shown, pageOf(6, 7));
  expect(numbers(reread)).toEqual([3, 4, 5, 6, 7]);
  expect(reread.earlier).toBe("before 3");
  expect(withEarlier(reread, pageOf(1, 2)).earlier).toBeUndefined();
});

test("a turn that only frames told of yet stays at the end", () => {
  const shown = withNewest(EMPTY, pageOf(1, 2));
  expect(numbers(withNewest({ ...shown, turns: [...shown.turns, running(4)] }, pageOf(2, 3)))).toEqual([
    1, 2, 3, 4,
  ]);
  expect(
    numbers(withNewest({ turns: [running(3)], earlier: undefined, versions: new Map() }, pageOf(1, 2))),
  ).toEqual([1, 2, 3]);
});

test("what lies more than a page back goes, so that no turn is missing in between", () => {
  const shown = withNewest(EMPTY, pageOf(1, 2));
  const reread = withNewest({ ...shown, turns: [...shown.turns, running(10)] }, pageOf(8, 9));
  expect(numbers(reread)).toEqual([8, 9, 10]);
  expect(reread.earlier).toBe("before 8");
});

test("a page that was read before a turn ended does not take its answer away again", () => {
  const [ended, early] = [pageOf(1, 1).turns[0] as Turn, pageOf(1, 1)];
  const items = [{ type: "message", id: "a", role: "assistant", text: "It has shipped." }] as const;
  const frame = { type: "done", status: "completed", turn: { ...ended, items } } as const;
  const live = fold(running(1), { ...frame, id: 1, turn_id: "turn 1", thread_id: "thread" });
  const stale = { ...early, turns: early.turns.map((turn) => ({ ...turn, status: "running" as const })) };
  const [shown] = withNewest({ turns: [live], earlier: undefined, versions: new Map() }, stale).turns;
  expect(shown).toMatchObject({ status: "completed", pieces: [{ text: "It has shipped." }] });
});

test("a turn that goes on from elsewhere does not stay behind what the store has of this path", () => {
  const [first, second] = pageOf(1, 2).turns as [Turn, Turn];
  const path = { turns: [first, second], versions: [], next: null };
  const shown = withNewest(EMPTY, { ...path, turns: [first] });
  const raced = { ...running(3), after: "turn 1" };
  const behind = { ...running(4), after: "turn 2" };
  expect(numbers(withNewest({ ...shown, turns: [...shown.turns, raced, behind] }, path))).toEqual([1, 2, 4]);
});

test("while tools are made ready, a turn says which, and nothing of it stays", () => {
  const notice = (code: string, message: string) =>
    ({ type: "notice", id: 1, turn_id: "turn 1", thread_id: "thread", code, message }) as const;
  const before = running(1);
  const preparing = fold(before, notice("tools_getting_ready", "Preparing tools 3/5"));
  expect(preparing).toMatchObject({ preparing: "3/5" });
  expect(preparing.notice).toBeUndefined();
  expect(fold(preparing, notice("tools_ready", "The tools are ready."))).toEqual(before);
});

test("a call that waits for its tool to be prepared is the only one that says so", () => {
  const turn = { id: 1, turn_id: "turn 1", thread_id: "thread" } as const;
  const start = (id: string) =>
    ({ type: "tool_started", ...turn, item: id, call: { id, name: "weather", params: "{}" } }) as const;
  const notice = (code: string) => ({ type: "notice", ...turn, code, message: "", call: "a" }) as const;
  const both = fold(fold(running(1), start("a")), start("b"));
  const states = (view: TurnView) => view.pieces.map((piece) => piece.type === "call" && !!piece.isPreparing);
  const preparing = fold(both, notice("tools_getting_ready"));
  expect(states(preparing)).toEqual([true, false]);
  expect(preparing.notice).toBeUndefined();
  expect(states(fold(preparing, notice("tools_ready")))).toEqual([false, false]);
});
