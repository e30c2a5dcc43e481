/** The page for tool authors, typed word for word into a shell in an empty folder. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseCapabilities } from "../../capabilities/parse.ts";
import { checkTypes } from "../../host/build/types.ts";
import { openProject } from "../../host/project.ts";
import { temporaryFolder } from "../support/home.ts";
import { freePort } from "../support/port.ts";
import { pathWithPostern } from "../support/projects.ts";

const PAGE = readFileSync(new URL("../../wit/README.md", import.meta.url), "utf8");
const BLOCKS = [...PAGE.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
  language,
  text,
}));

/** Each piece of shell with the output that the page promises below it. */
const STEPS = BLOCKS.flatMap(({ language, text }, at) =>
  language === "sh"
    ? [{ typed: text, promised: BLOCKS[at + 1]?.language === "text" ? BLOCKS[at + 1]?.text : "" }]
    : [],
);

const MARK = "—— next ——";

test("the page takes a newcomer from an empty folder to a chat that uses the tool, in under ten commands", {
  timeout: 600_000,
}, async () => {
  const cwd = temporaryFolder();
  const port = await freePort();
  const type = (steps: readonly string[], folder: string, home: string) => {
    const script = ["set -e", "exec 2>&1", "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT", ...steps];
    const { status, stdout } = spawnSync("bash", ["-c", script.join(`\necho '${MARK}'\n`)], {
      cwd: folder,
      encoding: "utf8",
      env: {
        PATH: pathWithPostern(),
        HOME: cwd,
        POSTERN_HOME: home,
        GATEWAY_PORT: String(port),
        CLI_ENABLED: "false",
        // They take their time, and are not what this is about.
        TOOLS_SHIPPED: "false",
      },
    });
    expect(status, stdout).toBe(0);
    return stdout.split(MARK).slice(3);
  };

  const here = STEPS.map(({ typed }) => typed.replaceAll("localhost:3000", `localhost:${port}`));
  const printed = type(here, cwd, join(cwd, "home"));
  for (const [at, { promised = "" }] of STEPS.entries()) {
    const pieces = promised.trim().split(/\s*…\s*/);
    const pattern = pieces
      .map((piece) => RegExp.escape(piece).replaceAll(/(?:\\x20|\\n|\s)+/g, "\\s+"))
      .join("[\\s\\S]*?");
    expect(printed[at]).toMatch(new RegExp(pattern));
  }
  const [walk = ""] = PAGE.split("## What is in the project");
  expect(commandsOf(walk).length).toBeLessThan(10);

  const folder = join(cwd, "countdown");
  for (const [at, { language, text }] of BLOCKS.entries()) {
    if (language === "ts") writeFileSync(join(folder, `page-${at}.ts`), text);
    if (language === "json") expect(() => parseCapabilities(text)).not.toThrow();
  }
  await checkTypes(openProject(folder));

  const readme = commandsOf(readFileSync(join(folder, "README.md"), "utf8"));
  expect(readme).toHaveLength(5);
  type(readme, folder, join(cwd, "another-home"));
});

function commandsOf(page: string): readonly string[] {
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, text = ""]) =>
    text.replaceAll("\\\n", " ").trim().split("\n"),
  );
}
