/** The workspace: a set of edits is made whole or not at all, once, and its undo brings back what was there. */
import { ask, insist, pause } from "./client.ts";
import type { Deed, Part, World } from "./world.ts";

const USER = "cyd";
const PATHS = ["/one.txt", "/two.txt"] as const;
const CHANGE = { writer: { kind: "api" } } as const;

export function workspacePart(): Part {
  /** What the files say after each set, and the set that made it so; the first is nothing. */
  const states: { readonly text: string; readonly set: string }[] = [];
  let line = Promise.resolve();
  let open = 0;

  const newest = async (world: World) => {
    const found = await insist(
      world,
      async (use) => (await use("workspace").log(USER, { limit: 1 })).items[0],
    );
    return "value" in found ? found.value : undefined;
  };

  /** Edits are no idempotent request: whoever heard nothing looks whether it was done. */
  async function until(
    world: World,
    before: string | undefined,
    act: () => Promise<unknown>,
  ): Promise<string> {
    for (;;) {
      await act();
      // What was sent may yet be done: the answer that comes later than this is lost.
      await pause(world, 90_000);
      const last = await newest(world);
      if (last !== undefined && last.id !== before) return last.id;
    }
  }

  async function write(world: World, { number }: Deed): Promise<void> {
    const before = (await newest(world))?.id;
    const text = `text ${number}`;
    const edits = PATHS.map((path) => ({ op: "write", path, data: new TextEncoder().encode(text) }) as const);
    let set: string | undefined;
    const answer = await ask(world, (use) => use("workspace").apply(USER, edits, CHANGE));
    if (answer && "value" in answer) set = (await newest(world))?.id;
    set ??= await until(world, before, () =>
      ask(world, (use) => use("workspace").apply(USER, edits, CHANGE)),
    );
    states.push({ text, set: set as string });
    world.note(undefined, `the files say "${text}"`);
  }

  /** What was written since stands in its way. */
  async function undoOlder(world: World, set: string): Promise<void> {
    const answer = await ask(world, (use) => use("workspace").undo(USER, set, CHANGE));
    // A node that stands still may yet do it, when nothing stands in its way any more.
    if (answer === undefined) await pause(world, 90_000);
    if (answer && "value" in answer && answer.value.set !== undefined)
      world.violate("undo restores", `${set} was undone, which had been written over`);
  }

  /** Two people undo the same at once. */
  async function undo(world: World): Promise<void> {
    const [before, last] = [states.at(-2), states.at(-1)];
    if (last === undefined) return;
    if (before !== undefined) await undoOlder(world, before.set);
    const newestBefore = (await newest(world))?.id;
    const tries = await Promise.all(
      [0, 1].map(() => ask(world, (use) => use("workspace").undo(USER, last.set, CHANGE))),
    );
    const done = tries.filter((one) => one && "value" in one && one.value.set !== undefined).length;
    if (done > 1) world.violate("nothing counts twice", `${last.set} was undone ${done} times`);
    if (done === 0)
      await until(world, newestBefore, () =>
        ask(world, (use) => use("workspace").undo(USER, last.set, CHANGE)),
      );
    states.pop();
    world.note(undefined, `"${last.text}" is undone`);
  }

  const next = (work: () => Promise<void>) => {
    open++;
    line = line.then(work).finally(() => {
      open--;
    });
  };

  return {
    deeds: {
      write: (world, deed) => next(() => write(world, deed)),
      undo: (world) => next(() => undo(world)),
    },
    isDone: async () => open === 0,
    async check(world) {
      if (open > 0) return world.violate("nothing acknowledged is lost", "the workspace does not answer");
      const expected = states.at(-1)?.text;
      for (const path of PATHS) {
        const found = await insist(world, (use) => use("workspace").read(USER, path));
        const text = "value" in found && found.value ? new TextDecoder().decode(found.value.data) : undefined;
        if (text !== expected) world.violate("undo restores", `${path} says ${text}, not ${expected}`);
      }
    },
  };
}
