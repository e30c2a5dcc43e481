/** The first minute of a fresh home, through the real command: the shipped tools are there before anybody needs them. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filesOf } from "../../host/catalog/shipped.ts";
import { readIntroduction } from "../../host/compile/transpile.ts";
import { temporaryFolder } from "../support/home.ts";
import { postern } from "../support/processes/postern.ts";
import { servePostern } from "../support/processes/served.ts";

test("the first question of a fresh home waits for no tool but the one that it needs", async () => {
  const home = join(temporaryFolder(), "home");
  const env = { POSTERN_HOME: home, MODEL_PROVIDER: "builtin", TOOLS_SHIPPED: "true" };
  const first = await postern(["ask", "Convert 26.2 miles to km"], { env, alone: true });
  expect(first).toMatchObject({ code: 0, stdout: "26.2 miles is 42.16 km.\n" });
  expect(first.stderr).toContain("convert: installing the shipped tool");
  expect(first.stderr).not.toContain("transpiling");
  // That of the one that was called, unless the clone has it beside the component.
  const transpiled = existsSync(join(home, "cache")) ? readdirSync(join(home, "cache")) : [];
  const { component } = await readIntroduction(filesOf("convert").introduction);
  expect(transpiled.filter((entry) => !entry.startsWith(component))).toEqual([]);
  const second = await postern(["ask", "Convert 26.2 miles to km"], { env, alone: true });
  expect(second).toEqual({ code: 0, stdout: first.stdout, stderr: "" });
});

test("a service is ready when the shipped tools are there, not before", async () => {
  const { url, link, process } = await servePostern({ TOOLS_SHIPPED: "true", MODEL_PROVIDER: "builtin" });
  const headers = { authorization: `Bearer ${new URL(link()).searchParams.get("token")}` };
  await expect.poll(async () => (await fetch(`${url}/ready`)).status).toBe(200);
  const tools = (await (await fetch(`${url}/api/tools`, { headers })).json()) as {
    readonly tools: readonly { readonly name: string }[];
  };
  expect(tools.tools.map(({ name }) => name)).toEqual([
    "convert",
    "read-page",
    "run-code",
    "weather",
    "web-search",
  ]);
  expect(process.stderr()).not.toContain("transpiling");
});
