import { expect, test } from "vitest";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import { openLease } from "../../../plugins/messaging/lease.ts";
import { MIGRATIONS } from "../../../plugins/messaging/tables.ts";
import { describeEngines } from "../../support/processes/engines.ts";
import { afterThisTest } from "../../support/undo.ts";

/** A holder that is kept from renewing it for so long would lose it rightly: longer than any machine pauses. */
const LEASE_MS = 5000;
/** Of a node that asks for the lease: one lease is over after four. */
const TRIES = 5;
const log = createLog("error", createMask(), { pretty: false, write: () => {} });

describeEngines("the lease of a channel", (engine, fresh) => {
  test("one node holds it; one that is cut off lets go before another begins, and one that stops hands it over", async () => {
    const place = await fresh();
    const events: string[] = [];
    const open = async (name: string) => {
      const store = await place.open();
      const sql = await store.tables("messaging", MIGRATIONS);
      let [isCut, tries] = [false, 0];
      const run: Sql["run"] = async (text, ...values) => {
        if (isCut) throw new Error("away");
        const count = await sql.run(text, ...values);
        tries++;
        return count;
      };
      const lease = await openLease({
        sql: { ...sql, engine: sql.engine, run },
        node: store.node,
        channel: "chat",
        log,
        leaseMillis: LEASE_MS,
        async hold(signal) {
          events.push(`${name} holds`);
          await new Promise<void>((resolve) =>
            signal.addEventListener("abort", () => resolve(), { once: true }),
          );
          events.push(`${name} lets go`);
        },
      });
      afterThisTest(() => lease.stop());
      const hasTried = async (times: number) => {
        const before = tries;
        await expect.poll(() => tries).toBeGreaterThanOrEqual(before + times);
      };
      return { lease, hasTried, cut: (is: boolean) => (isCut = is) };
    };
    const first = await open("first");
    expect(events).toEqual(["first holds"]);
    // SQLite has one process: another that opens the store knows that the first is gone.
    if (engine === "sqlite") return;
    const second = await open("second");
    await second.hasTried(TRIES);
    expect(events).toEqual(["first holds"]);
    first.cut(true);
    await expect.poll(() => events).toEqual(["first holds", "first lets go", "second holds"]);
    first.cut(false);
    await first.hasTried(TRIES);
    expect(events).toHaveLength(3);
    await second.lease.stop();
    await expect
      .poll(() => events)
      .toEqual([...["first holds", "first lets go", "second holds", "second lets go", "first holds"]]);
  });
});
