/** Runs the commands of the tool authors' page in a shell, in an empty folder. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { installedToolchain } from "../../host/author/build/toolchain.ts";
import { checkTypes } from "../../host/author/build/types.ts";
import { openProject } from "../../host/author/project.ts";
import { parseCapabilities } from "../../host/catalog/catalog.ts";
import { temporaryFolder } from "../support/home.ts";
import { blocksOf, commandsOf, typeLines, typePage } from "../support/processes/page.ts";
import { freePort } from "../support/servers/port.ts";
import { pathWithPostern } from "../support/tools/projects.ts";

/** The last part needs another compiler; `rust.test.ts` runs it. */
const [PAGE = ""] = readFileSync(new URL("../../wit/README.md", import.meta.url), "utf8").split(
  "## Write a tool in Rust",
);

test("the page leads from an empty folder to a chat that uses the tool, in under ten commands", async () => {
  const cwd = temporaryFolder();
  const port = await freePort();
  const env = {
    PATH: pathWithPostern(),
    HOME: cwd,
    POSTERN_HOME: join(cwd, "home"),
    GATEWAY_PORT: String(port),
    CLI_ENABLED: "false",
    // Building the shipped tools is slow, and this test does not need them.
    TOOLS_SHIPPED: "false",
  };
  await typePage(PAGE.replaceAll("localhost:3000", `localhost:${port}`), cwd, env);
  const [walk = ""] = PAGE.split("## Project files");
  expect(commandsOf(walk).length).toBeLessThan(10);

  const folder = join(cwd, "countdown");
  for (const [at, { language, text }] of blocksOf(PAGE).entries()) {
    if (language === "ts") writeFileSync(join(folder, `page-${at}.ts`), text);
    if (language === "json") expect(() => parseCapabilities(text)).not.toThrow();
  }
  await checkTypes(openProject(folder), installedToolchain());

  const [build, ...readme] = commandsOf(readFileSync(join(folder, "README.md"), "utf8"));
  // The page's last command built it with the other engine, whose components take less time to try.
  expect(build).toMatch(/^postern tool build \. /);
  expect(commandsOf(PAGE).at(-1)).toBe("postern tool build . --engine quickjs");
  expect(readme).toHaveLength(4);
  // The page has run the project's tests, word for word the same, with the engine that takes longer.
  expect(commandsOf(PAGE)).toContain("npm test");
  const others = readme.filter((command) => command !== "npm test");
  expect(others).toHaveLength(3);
  await typeLines(others, folder, { ...env, POSTERN_HOME: join(cwd, "another-home") });
});
