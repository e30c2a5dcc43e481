/** A test that leaves something open fails its file: a server, a process, a thread, a timer that keeps the process up. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";

/** About a minute: only what is really left open takes so long. */
const MAX_TRIES = 3000;

let before: readonly string[] = [];

beforeAll(() => {
  // They open at their first use, and are nobody's to close. An import from "node:process" uses all three.
  void [process.stdin, process.stdout, process.stderr];
  before = process.getActiveResourcesInfo();
});

afterAll(async () => {
  // What was closed is gone a few turns of the event loop later.
  for (let tries = 0; tries < MAX_TRIES && left().length > 0; tries++) await sleep(20);
  expect(left(), "what the tests of this file left open").toEqual([]);
});

function left(): readonly string[] {
  const known = [...before];
  return process.getActiveResourcesInfo().filter((name) => {
    const at = known.indexOf(name);
    if (at !== -1) known.splice(at, 1);
    return at === -1;
  });
}
