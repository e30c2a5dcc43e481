/** Growth: what the loop costs for the nth turn on a thread, with a model that answers at once. */
import { join } from "node:path";
import type { Sql } from "../../kernel/plugin.ts";
import { openStore } from "../../plugins/store/sqlite/store.ts";
import { openAgent } from "./support/agent.ts";
import { atMost, type Bench, compare, interleave } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";

const ROUNDS = 9;
const LONG = [100, 1000, 10_000];
/** So many turns of a thread are played; the others are copies of their rows. */
const PLAYED = 100;

/** Makes a thread so many times as long, with the same turns again. */
async function lengthen(sql: Sql, thread: string, times: number): Promise<void> {
  const columns = async (table: string) => {
    const rows = await sql.all<{ name: string }>("SELECT name FROM pragma_table_info(?)", table);
    return rows.map(({ name }) => `"${name}"`).filter((name) => name !== '"seq"');
  };
  const [turns, items] = [await columns("turns"), await columns("turn_items")];
  const changed = (list: readonly string[], change: Readonly<Record<string, string>>) =>
    `(${list}) SELECT ${list.map((column) => change[column] ?? column)}`;
  await sql.transaction(async (tx) => {
    const last = await tx.get<{ seq: number }>("SELECT max(seq) AS seq FROM turns WHERE thread = ?", thread);
    const played = [thread, last?.seq ?? 0];
    for (let copy = 1; copy < times; copy++) {
      const [id, turn] = [`id || '-${copy}'`, `turn || '-${copy}'`];
      const copyTurns = `INSERT INTO turns ${changed(turns, { '"id"': id })} FROM turns WHERE thread = ? AND seq <= ? ORDER BY seq`;
      const copyItems = `INSERT INTO turn_items ${changed(items, { '"id"': id, '"turn"': turn, '"body"': `replace(body, id, ${id})` })}
        FROM turn_items WHERE turn IN (SELECT id FROM turns WHERE thread = ? AND seq <= ?) ORDER BY seq`;
      await tx.run(copyTurns, ...played);
      await tx.run(copyItems, ...played);
    }
    await tx.run(
      "UPDATE threads SET turns = (SELECT count(*) FROM turns WHERE thread = threads.id) WHERE id = ?",
      thread,
    );
  });
}

export const bench: Bench = {
  name: "agent-turn",
  about:
    "growth: the nth turn on a thread, without the model and the flushes; turn 1,000 within 3× of turn 10",
  run: (progress) =>
    inFolder(async (home) => {
      // Flushes are the disk's, and the same for every turn.
      const store = openStore(join(home, "store.sqlite"), { durability: "normal" });
      const { agent, history, turn, sql } = await openAgent(store, home);
      const threadOf = async (turns: number) => {
        const thread = await turn();
        for (let count = 1; count < Math.min(turns, PLAYED); count++) await turn(thread);
        await lengthen(sql, thread, turns / PLAYED);
        await turn(thread);
        return thread;
      };
      const timed = async (thread: string) => {
        const began = performance.now();
        await turn(thread);
        return performance.now() - began;
      };
      const cold = (thread: string) => {
        history.forget(thread);
        return timed(thread);
      };
      try {
        // A thread of ten stays one: each round takes a new one.
        const short: string[] = [];
        for (let count = 0; count < 2 * ROUNDS; count++) short.push(await threadOf(9));
        const next = () => short.pop() ?? "";
        const warm: Record<string, () => Promise<number>> = { "turn 10": () => timed(next()) };
        const first: Record<string, () => Promise<number>> = { "turn 10": () => cold(next()) };
        for (const turns of LONG) {
          const name = `turn ${turns.toLocaleString("en")}`;
          progress(`filling a thread up to ${name}`);
          const thread = await threadOf(turns);
          warm[name] = () => timed(thread);
          first[name] = () => cold(thread);
        }
        const what = "first after a start";
        // What the model is sent grows with the thread, and is read anew after a start: no worse than the turns themselves.
        const goals = { "turn 1,000": atMost(3), "turn 10,000": atMost(10) };
        const firstGoals = { "turn 10,000": atMost(1000) };
        return [
          ...compare(await interleave(warm, ROUNDS, progress), { unit: "ms", goals }),
          ...compare(await interleave(first, ROUNDS, progress), { unit: "ms", what, goals: firstGoals }),
        ];
      } finally {
        await agent.stop();
        await store.close();
      }
    }),
};
