/** After every call and cleaning, a look at the whole memory finds nothing that the call wrote. */
import { describe, expect, test } from "vitest";
import { componentizeJsFixture, fixture } from "../../support/tools/components.ts";
import { builtComponent } from "../../support/tools/shipped.ts";
import { watchedComponent } from "../../support/tools/watched.ts";

const LIST = Array.from({ length: 300 }, (_, id) => ({ id, name: `name ${id}`, tags: ["a", "b", id / 3] }));
const PARAMS = [
  {},
  { text: "x" },
  { text: "ünïcödé ".repeat(2000), line: "to the log", print: "to stdout" },
  { text: "x", secret: "key", url: "https://a", body: "b".repeat(5000) },
  { text: LIST, list: LIST },
  "g",
  { action: "get_current", city: "Berlin" },
  { value: 3, from: "km", to: "mi" },
].map((params) => JSON.stringify(params));

/** Calls it with everything; a call that fails ends its instance, as it does in service. */
async function findDifferences(
  bytes: Uint8Array,
  given = PARAMS,
): Promise<{ cleaned: number; differences: number }> {
  const component = await watchedComponent(bytes);
  let watched = await component.open();
  let cleaned = 0;
  let differences = 0;
  const calls = given.map((params) => () => watched.instance.tool.execute({ params }) as unknown);
  for (const call of [...calls, () => watched.instance.tool.schema(), ...calls]) {
    let isSound = true;
    try {
      await call();
    } catch {
      isSound = false;
    }
    if (isSound && watched.instance.clean()) {
      cleaned++;
      differences += watched.differences();
    } else watched = await component.open();
  }
  return { cleaned, differences };
}

describe("nothing is left of a call", () => {
  test.each(["bad-answers.js", "clock.js", "eager.js", "echo.js", "measured.js", "prober.js", "smuggler.js"])(
    "%s, QuickJS",
    async (name) => {
      const { cleaned, differences } = await findDifferences(await fixture(name));
      expect(cleaned).toBeGreaterThan(0);
      expect(differences).toBe(0);
    },
  );

  test("log-flood.js with a tenth of its lines, QuickJS", async () => {
    const given = [500, 1].map((lines) => JSON.stringify({ lines }));
    const { cleaned, differences } = await findDifferences(await fixture("log-flood.js"), given);
    expect(cleaned).toBeGreaterThan(0);
    expect(differences).toBe(0);
  });

  test.each(["clock.js", "echo.js", "smuggler.js"])("%s, componentize-js", async (name) => {
    const { cleaned, differences } = await findDifferences(await componentizeJsFixture(name));
    expect(cleaned).toBeGreaterThan(0);
    expect(differences).toBe(0);
  });

  test.each(["measured.wat", "smuggler.wat"])("%s", async (name) => {
    const { differences } = await findDifferences(await fixture(name));
    expect(differences).toBe(0);
  });

  test.each(["convert", "weather", "github-issues"])("%s, as shipped", async (name) => {
    const { cleaned, differences } = await findDifferences(await builtComponent(name));
    expect(cleaned).toBeGreaterThan(0);
    expect(differences).toBe(0);
  });

  test("the look at memory does find what is left", async () => {
    const { instance, differences } = await (await watchedComponent(await fixture("echo.js"))).open();
    await instance.tool.execute({ params: '{"text":"x"}' });
    expect(differences()).toBeGreaterThan(0);
  });
});

describe("an instance opened later", () => {
  test.each([
    ["echo.js", fixture],
    ["echo.js", componentizeJsFixture],
    ["weather", builtComponent],
    ["measured.wat", fixture],
  ] as const)("holds to the byte what the first one held before its first call: %s", async (name, build) => {
    const component = await watchedComponent(await build(name));
    const first = await component.open();
    await first.instance.tool.execute({ params: JSON.stringify({ text: LIST }) });
    for (const later of [await component.open(), await component.open()]) {
      expect(later.start.length).toBeGreaterThan(0);
      for (const [index, bytes] of later.start.entries())
        expect(bytes.equals(first.start[index] as Buffer)).toBe(true);
      const params = JSON.stringify({ text: "x" });
      await later.instance.tool.execute({ params });
      if (later.instance.clean()) expect(later.differences()).toBe(0);
    }
  });
});
