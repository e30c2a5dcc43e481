/** Approvals: a gate is answered at most once, however many people answer it, and what was allowed is done at most once. */
import { answerText } from "../../kernel/kit/turns.ts";
import { Fault } from "../../kernel/plugin.ts";
import { ask, insist, pause } from "./client.ts";
import type { Part, World } from "./world.ts";

const isFinal = (error: unknown): boolean => error instanceof Fault && error.kind !== "unavailable";

export function approvalsPart(): Part {
  let open = 0;
  const answers = new Map<string, number>();
  /** The threads in which the model proposed a routine, by their users. */
  const proposals = new Map<string, string>();

  async function request(world: World, number: number): Promise<void> {
    open++;
    const user = `u${number}`;
    const id = `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`;
    const verb = number % 2 === 0 ? "ask" : "propose";
    const input = { type: "message", text: `${verb} a${number}` } as const;
    const turn = await insist(
      world,
      (use) => use("agent").run({ id, user, channel: "simulation", input }),
      isFinal,
    );
    world.note(
      undefined,
      `"${input.text}" ${"value" in turn ? "is acknowledged" : `was refused: ${turn.error}`}`,
    );
    if (verb === "propose" && "value" in turn) proposals.set(user, turn.value.thread);
    for (let tries = 0; tries < 60; tries++) {
      const found = await ask(world, (use) => use("approvals").pending(user));
      const gate = found && "value" in found ? found.value[0] : undefined;
      if (gate !== undefined) {
        await Promise.all([answer(world, user, gate), answer(world, user, gate)]);
        break;
      }
      const known = await ask(world, (use) => use("threads").turn(user, id));
      if (known && "value" in known && known.value && ["failed", "completed"].includes(known.value.status))
        break;
      await pause(world, 1000);
    }
    open--;
  }

  async function answer(
    world: World,
    user: string,
    { id: gate, thread }: { id: string; thread: string },
  ): Promise<void> {
    const input = { type: "approval", gate, decision: "once" } as const;
    await pause(world, Math.floor(world.machine.chance() * 300));
    const given = await insist(
      world,
      (use) => use("agent").run({ user, thread, channel: "simulation", input }),
      isFinal,
    );
    if ("value" in given) answers.set(gate, (answers.get(gate) ?? 0) + 1);
    world.note(
      undefined,
      `${user}'s answer ${"value" in given ? "is acknowledged" : `was refused: ${given.error}`}`,
    );
  }

  return {
    deeds: { ask: (world, { number }) => void request(world, number) },
    isDone: async () => open === 0,
    async check(world) {
      for (const [gate, count] of answers)
        if (count > 1) world.violate("a gate is answered at most once", `${gate} took ${count} answers`);
      const turns = await world.database.all<{ input: string }>("SELECT input FROM turns");
      const gates = turns.flatMap(({ input }) => {
        const { type, gate } = JSON.parse(input) as { type: string; gate?: string };
        return type === "approval" ? [gate] : [];
      });
      if (new Set(gates).size < gates.length)
        world.violate("a gate is answered at most once", gates.join(", "));
      for (const what of new Set(world.posted.filter((one) => one.startsWith("a")))) {
        const posts = world.posted.filter((one) => one === what).length;
        if (posts > 1)
          world.violate("nothing counts twice", `what was allowed as ${what} was done ${posts} times`);
      }
      for (const [user, thread] of proposals) {
        const made = await insist(world, (use) => use("routines").list(user));
        const told = await insist(world, (use) => use("threads").turns(user, thread, { limit: 1 }));
        if (!("value" in made) || !("value" in told)) continue;
        const count = made.value.length;
        const isSaidDone = told.value.items.some((turn) => answerText(turn) === `a${user.slice(1)}`);
        if (count > 1) world.violate("nothing counts twice", `${user} allowed one routine and has ${count}`);
        if (count === 0 && isSaidDone)
          world.violate("nothing acknowledged is lost", `${user} has no routine and was told of one`);
      }
    },
  };
}
