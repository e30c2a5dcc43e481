/** The page for trouble knows every code there is, and none that is gone. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/clone.ts";

/** As a fault is made: `new Fault("kind", "code"`, or by one of the few functions that make one with a code. */
const MADE =
  /new Fault\(\s*"[a-z]+",\s*"(\w+)"|(?:\bfault|throw refusal|\binvalidFault|\bmissingFault)\(\s*"(\w+)"|\borRefuse\([^"]*?,\s*"(\w+)"/g;
/** A function of one file that makes a fault. */
const THROWN = /throw (?:invalid|refusal)\((?:name, )?"(\w+)"/g;

test("each fault code is on the troubleshooting page with what to do, and no other", () => {
  const files = globSync("{kernel,plugins,host,capabilities}/**/*.ts", {
    cwd: ROOT,
    exclude: ["**/node_modules/**", "**/dist/**", "test/channel-contract/**"],
  });
  const codesBy = (pattern: RegExp) =>
    files.flatMap((file) =>
      [...readFileSync(join(ROOT, file), "utf8").matchAll(pattern)].map(([, ...found]) =>
        found.find((code) => code !== undefined),
      ),
    );
  const codes = new Set(codesBy(MADE));
  const thrown = new Set([...codes, ...codesBy(THROWN)]);
  expect(codes.size).toBeGreaterThan(200);
  const page = readFileSync(join(ROOT, ".docs", "troubleshooting.md"), "utf8");
  const listed = [...page.slice(page.indexOf("## Codes")).matchAll(/^\| (`.*?`) \| (.+) \|$/gm)];
  expect(listed.filter(([, , advice = ""]) => advice.trim().length < 10)).toEqual([]);
  const named = listed.flatMap(([, names = ""]) => [...names.matchAll(/`(\w+)`/g)].map(([, code]) => code));
  expect([...codes].filter((code) => !named.includes(code))).toEqual([]);
  expect(named.filter((code) => !thrown.has(code))).toEqual([]);
  expect(named.filter((code, at) => named.indexOf(code) !== at)).toEqual([]);
});
