/** Signals between the nodes of a world: in order from each sender, lost where the listener is cut off. */
import type { Transaction } from "../../kernel/plugin.ts";
import { createListeners } from "../../plugins/store/fleet/signals.ts";
import type { Signals } from "../../plugins/store/services.ts";
import { inside, type Machine } from "./machine.ts";
import { Away } from "./node-store.ts";
import type { SimulatedNode } from "./world.ts";

interface Ear {
  readonly node: SimulatedNode;
  readonly listeners: ReturnType<typeof createListeners>;
  readonly onLost: Set<() => void>;
  hasMissed: boolean;
}

export type Signalling = ReturnType<typeof createSignalling>;

export function createSignalling(machine: Machine) {
  const ears = new Set<Ear>();

  function deliver(ear: Ear, tell: () => void): void {
    const { node, onLost } = ear;
    if (node.cutUntil > machine.now()) {
      ear.hasMissed = true;
      return;
    }
    if (ear.hasMissed) {
      ear.hasMissed = false;
      for (const lost of onLost) inside(node, lost);
    }
    inside(node, tell);
  }

  return {
    open(node: SimulatedNode): Signals {
      const ear: Ear = { node, listeners: createListeners(), onLost: new Set(), hasMissed: false };
      ears.add(ear);
      return {
        async send(topic: string, payload: string, _tx?: Transaction) {
          if (node.cutUntil > machine.now()) throw new Away();
          for (const one of ears) {
            if (one.node.isDead) ears.delete(one);
            machine.wait(one.node, `signal ${topic}`, () =>
              deliver(one, () => one.listeners.tell(topic, payload, one === ear)),
            );
          }
        },
        listen: (topic, listener) =>
          Object.assign(ear.listeners.add(topic, listener), { ready: async () => {} }),
        onLost(listener) {
          ear.onLost.add(listener);
          return () => void ear.onLost.delete(listener);
        },
      };
    },
  };
}
