/** Worlds from seeds, each in a process of its own: the simulation replaces the clock and the timers of its whole process. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { describePostgres } from "../support/processes/postgres/database.ts";
import { PLANTED } from "./replacements.ts";

const SCRIPT = join(import.meta.dirname, "simulate.ts");
/** A limit for what hangs: the machine may have other work to do. */
const STUCK_MS = 3_600_000;
const SEEDS = 1000;
/** A planted bug that takes more is one for which the simulation draws too little. */
const SEEDS_TO_FIND = 300;
const README = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
const PROCESSES = Math.min(4, availableParallelism());

function simulate(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...args], { maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: `${stdout}${stderr}` });
    });
  });
}

async function assertKept(...args: readonly string[]): Promise<void> {
  const { code, said } = await simulate(...args);
  expect(code, said).toBe(0);
  console.info(said.trim());
}

describe("one world from one seed", () => {
  test(`${SEEDS} seeds keep every rule`, { timeout: STUCK_MS }, async () => {
    const each = SEEDS / PROCESSES;
    const firsts = Array.from({ length: PROCESSES }, (_, at) => 1 + Math.ceil(at * each));
    await Promise.all(
      firsts.map((seed) => assertKept("--seed", String(seed), "--seeds", String(Math.ceil(each)))),
    );
  });

  test("a seed is the same world in every process", { timeout: STUCK_MS }, async () => {
    const [one, other] = await Promise.all(
      ["first", "second"].map(() => simulate("--seed", "1", "--seeds", "30")),
    );
    expect(one?.said).toMatch(/trace [0-9a-f]{16}/);
    expect(one?.said).toBe(other?.said);
  });

  test("plans that once broke a rule keep it", { timeout: STUCK_MS }, () => assertKept("--kept"));

  test("SQLite files keep the rules", { timeout: STUCK_MS }, () =>
    assertKept("--engine", "sqlite", "--seed", "1", "--seeds", "20"),
  );
});

describePostgres("on PostgreSQL", () => {
  test("a fleet keeps the rules", { timeout: STUCK_MS }, () =>
    assertKept("--engine", "postgres", "--seed", "1", "--seeds", "5"),
  );
});

describe("an old bug that is put back is found", () => {
  for (const { name, about } of PLANTED)
    test(`${name}: ${about}`, { timeout: STUCK_MS }, async () => {
      const find = (seed: number, seeds: number) =>
        simulate("--plant", name, "--seed", `${seed}`, "--seeds", `${seeds}`, "--no-shrink");
      // Where the README says; from the first on only if the simulation draws something else since.
      const [, seed = ""] = new RegExp(`^\\| \`${name}\`.*\\| (\\d+) \\|$`, "m").exec(README) ?? [];
      expect(Number(seed)).toBeLessThanOrEqual(SEEDS_TO_FIND);
      const there = await find(Number(seed), 1);
      const { code, said } = there.code === 0 ? await find(1, SEEDS_TO_FIND) : there;
      expect(code, said).toBe(1);
      // A crash exits with 1, too. The steps, which say VIOLATION, are printed only of a plan that was shrunk.
      expect(said).toMatch(/^ {2}".+" is broken: /m);
      console.info(`${name}: ${said.trim()}`);
    });

  test("a failing plan is shrunk and printed as steps", { timeout: STUCK_MS }, async () => {
    const { said } = await simulate(
      "--plant",
      "half-a-turn",
      "--seed",
      "1",
      "--seeds",
      String(SEEDS_TO_FIND),
    );
    expect(said).toMatch(/The shortest way to it: \d nodes, \d+ deeds, \d+ troubles/);
    expect(said).toMatch(/VIOLATION of "nothing acknowledged is lost"/);
  });
});
