import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";

const CLOCK = fileURLToPath(new URL("../../fixtures/third-party/clock.ts", import.meta.url));

/** The commands below each heading, in the order in which they are printed. */
function groupsOf(help: string): Record<string, readonly string[]> {
  const groups = [...help.matchAll(/^(\w+):\n((?: {2}.*\n)+)/gm)].map(([, heading = "", lines = ""]) => [
    heading,
    [...lines.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name),
  ]);
  return Object.fromEntries(groups);
}

test("--help lists every command in one group, and what other plugins add in a group of their own", async () => {
  const env = { POSTERN_HOME: join(temporaryFolder(), "none"), PLUGINS: CLOCK };
  const { code, stdout } = await postern(["--help"], { env });
  expect(code).toBe(0);
  const { Options: _, Examples: __, ...groups } = groupsOf(stdout);
  expect(Object.keys(groups)).toEqual(["Talk", "Tools", "People", "Keep", "Operate", "Advanced", "Plugins"]);
  expect(groups).toMatchObject({
    Talk: expect.arrayContaining(["ask", "thread"]),
    Tools: ["mcp", "skill", "tool"],
    Keep: expect.arrayContaining(["memory", "store"]),
    Operate: expect.arrayContaining(["doctor", "models", "serve", "status"]),
    Advanced: expect.arrayContaining(["completion", "man"]),
    Plugins: ["clock"],
  });
  const names = Object.values(groups).flat();
  expect(new Set(names).size).toBe(names.length);
});

test("headings and errors are coloured for who wants colours, and for nobody else", async () => {
  const home = { POSTERN_HOME: join(temporaryFolder(), "none") };
  const run = async (colours: Record<string, string>, ...args: string[]) => {
    const { stdout, stderr } = await postern(args, { env: { ...home, ...colours }, alone: true });
    return stdout + stderr;
  };
  const forced = { FORCE_COLOR: "1" };
  const help = await run(forced, "--help");
  for (const heading of ["Usage:", "Talk:", "Examples:"])
    expect(help).toContain(`\u001b[1m${heading}\u001b[22m`);
  expect(await run(forced, "thraed")).toContain("\u001b[31merror:\u001b[39m unknown command");
  const without: readonly Record<string, string>[] = [{}, { NO_COLOR: "1" }];
  for (const colours of without) expect(await run(colours, "--help")).toBe(stripVTControlCharacters(help));
});
