/** Inbox, turns and outbox through random schedules of failures, on both engines. A failure prints its plan and seed. */
import { test } from "vitest";
import { describeEngines } from "../../support/processes/engines.ts";
import { emptyDatabase } from "../../support/processes/postgres/database.ts";
import { type Plan, play } from "../../support/services/chat-model.ts";
import type { Undo } from "../../support/undo.ts";
import { check, planOf, TELLINGS } from "./model.ts";

const RUNS = Number(process.env["MODEL_RUNS"] ?? 25);
const FIRST = Number(process.env["MODEL_SEED"] ?? Date.now() % 2 ** 31);

const messaging: Parameters<typeof describeEngines>[1] = (engine, fresh) => {
  /** What a play opened is closed after it: the next one of PostgreSQL's takes its database. */
  const playOnce = async (plan: Plan) => {
    const undos: Undo[] = [];
    try {
      return await play(await fresh((undo) => void undos.push(undo)), plan);
    } finally {
      for (const undo of undos.reverse()) await undo();
    }
  };

  for (const telling of TELLINGS)
    test(`a service that tells a repeat by ${telling}: ${RUNS} random schedules`, async () => {
      let repeats = 0;
      let crashes = 0;
      let messages = 0;
      for (let seed = FIRST; seed < FIRST + RUNS; seed++) {
        const plan = planOf(seed, telling, engine);
        repeats += check(plan, await playOnce(plan));
        crashes += plan.crashes.length;
        messages += plan.messages;
      }
      console.info(
        `${engine}, ${telling}: seeds ${FIRST} to ${FIRST + RUNS - 1}, ${messages} messages, ${crashes} crashes planned, ${repeats} repeats`,
      );
    });

  test("a crash at every single write, before and after its commit", async () => {
    const base: Plan = {
      seed: 7,
      telling: "lookUp",
      messages: 3,
      conversations: 2,
      nodes: 1,
      cuts: 0,
      trouble: 0,
      crashes: [],
    };
    const { writes } = await playOnce(base);
    for (let write = 1; write <= writes; write++)
      for (const isAfter of [false, true]) {
        const plan = { ...base, crashes: [{ write, isAfter }] };
        check(plan, await playOnce(plan));
      }
    console.info(`${engine}: ${writes} writes`);
  });
};

describeEngines("messaging", messaging, emptyDatabase);
