import { setImmediate as nextRound } from "node:timers/promises";
import { expect, test } from "vitest";
import { createCommits } from "../../../plugins/store/sqlite/commits.ts";
import { connect } from "../../../plugins/store/sqlite/connection.ts";

function open() {
  const connection = connect(":memory:", false);
  connection.exec("CREATE TABLE written (number INTEGER)");
  let flushes = 0;
  const commits = createCommits(connection, { now: () => flushes++, soon: () => {} });
  const write = (number: number) =>
    commits.ask({ flush: true, work: (tx) => tx.run("INSERT INTO written VALUES (?)", number) });
  return { write, flushes: () => flushes };
}

test("what is written in the rounds of the event loop right after others shares their flush", async () => {
  const { write, flushes } = open();
  const writing = [write(1), write(2)];
  for (const number of [3, 4]) {
    await nextRound();
    writing.push(write(number));
  }
  await Promise.all(writing);
  expect(flushes()).toBe(1);
});

test("a write alone waits for nobody", async () => {
  const { write, flushes } = open();
  const first = write(1);
  await nextRound();
  await Promise.all([first, write(2)]);
  expect(flushes()).toBe(2);
});

test("who writes first is not kept waiting by others for ever", async () => {
  const { write } = open();
  let isDone = false;
  const first = write(0).then(() => {
    isDone = true;
  });
  const writing = [write(0)];
  for (let round = 0; round < 20 && !isDone; round++) {
    await nextRound();
    writing.push(write(round));
  }
  expect(isDone).toBe(true);
  await Promise.all([first, ...writing]);
});
