/** Inbox, turns and outbox through a few schedules of trouble. Many more, on both engines, are in the extended tier. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { temporaryFolder } from "../../support/home.ts";
import { play } from "../../support/services/chat-model.ts";
import { afterThisTest } from "../../support/undo.ts";
import { check, planOf, TELLINGS } from "./model.ts";

for (const telling of TELLINGS)
  test(`a service that tells a repeat by ${telling}: nothing is lost through crashes, doubled messages and lost answers`, async () => {
    for (const seed of [11, 12, 13]) {
      const url = join(temporaryFolder(afterThisTest), "store.sqlite");
      const plan = planOf(seed, telling, "sqlite");
      const outcome = await play({ url, open: async () => openStore(url) }, plan);
      check(plan, outcome);
      expect(outcome.written).toHaveLength(plan.messages);
    }
  });
