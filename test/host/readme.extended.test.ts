/** The commands on the host's own page do what it says. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../support/clone.ts";
import { temporaryFolder } from "../support/home.ts";
import { postern } from "../support/processes/postern.ts";
import { prepareShipped } from "../support/tools/shipped.ts";

test("the page's commands list, run and show the weather tool of a fresh home", async () => {
  const home = join(temporaryFolder(), "home");
  await prepareShipped();
  const page = readFileSync(join(ROOT, "host", "README.md"), "utf8");
  const lines = [...page.matchAll(/^npx postern tool (.*)$/gm)].map(([, line]) => line ?? "");
  const env = { POSTERN_HOME: home, TOOLS_SHIPPED: "true" };
  const printed: Record<string, string> = {};
  for (const line of lines.filter((command) => !command.startsWith("install"))) {
    const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
    const { code, stdout, stderr } = await postern(["tool", ...args], { env, cwd: ROOT });
    expect({ line, code, stderr: code === 0 ? "" : stderr }).toEqual({ line, code: 0, stderr: "" });
    printed[args[0] ?? ""] = stdout;
  }
  expect(printed["list"]).toContain("weather");
  expect(JSON.parse(printed["run"] ?? "")).toMatchObject({ city: "Berlin", description: "Slight rain" });
  expect(printed["log"]).toContain("geocoding-api.open-meteo.com 200");
});
