import { expect, test } from "vitest";
import type { TurnEvent } from "../../../../kernel/plugin.ts";
import { createRelay } from "../../../../plugins/agent/live/relay.ts";
import { createLocalSignals } from "../../../../plugins/store/fleet/signals.ts";
import type { Signals } from "../../../../plugins/store/services.ts";
import { quiet } from "../../../support/services/memory.ts";

const PLACE = { id: "t1", thread: "th1" };
const say = (delta: string): TurnEvent => ({ type: "text", item: "i1", delta });

/** What was sent in one moment travels together in the next, and may be answered. */
async function settled(): Promise<void> {
  for (let moments = 0; moments < 4; moments++) await new Promise(setImmediate);
}

/** A node's relay, on signals that nodes share, with what its watchers were told. */
function join(id: string, signals: Signals) {
  const events: TurnEvent[] = [];
  const told: string[] = [];
  const deaths = new Set<(id: string) => void>();
  const relay = createRelay({
    node: {
      id,
      living: "",
      list: async () => [],
      onDead: (listener) => {
        deaths.add(listener);
        return () => void deaths.delete(listener);
      },
    },
    signals,
    log: quiet,
    running: () => (events.length === 0 ? [] : [{ ...PLACE, events }]),
    tell: (_, event) => void told.push(event.type === "text" ? event.delta : event.type),
    lost: () => void told.push("lost"),
    stop: () => {},
    wake: () => {},
  });
  return {
    relay,
    told,
    die: (dead: string) => {
      for (const listener of deaths) listener(dead);
    },
    emit(delta: string) {
      const event = say(delta);
      relay.send("ann", PLACE, events.push(event), event);
    },
  };
}

async function twoNodes(signals = createLocalSignals(() => {})) {
  const [runs, watches] = [join("runs", signals), join("watches", signals)];
  watches.relay.watch("ann", true);
  await settled();
  return { runs, watches };
}

test("watchers of a node that was taken for dead by mistake hear of turns again", async () => {
  const { runs, watches } = await twoNodes();
  runs.emit("one");
  await settled();
  runs.die("watches");
  runs.emit("two");
  await settled();
  expect(watches.told).toEqual(["one"]);
  watches.die("watches");
  await settled();
  runs.emit("three");
  await settled();
  expect(watches.told).toEqual(["one", "lost", "one", "two", "three"]);
});

test("who comes back to a node that forgot a turn hears all of it", async () => {
  const { runs, watches } = await twoNodes();
  runs.emit("one");
  await settled();
  watches.relay.watch("ann", false);
  await settled();
  runs.emit("two");
  watches.relay.watch("ann", true);
  await settled();
  expect(watches.told).toEqual(["one", "one", "two"]);
});

test("the end of a turn arrives also where a connection broke while it was sent", async () => {
  const local = createLocalSignals(() => {});
  let isBroken = false;
  const send: Signals["send"] = async (...args) => {
    if (!isBroken) return local.send(...args);
    isBroken = false;
    throw new Error("Connection terminated unexpectedly");
  };
  const { runs, watches } = await twoNodes({ ...local, send });
  runs.emit("one");
  await settled();
  isBroken = true;
  runs.emit("the end");
  await expect.poll(() => watches.told).toEqual(["one", "the end"]);
});
