/** A page's shell blocks, typed word for word, and held against the output that the page promises below them. */
import { spawnSync } from "node:child_process";
import { expect } from "vitest";

const MARK = "—— next ——";

export interface Block {
  readonly language: string;
  readonly text: string;
}

export function blocksOf(page: string): readonly Block[] {
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
    language,
    text,
  }));
}

/** Single commands, without the lines they are broken into. */
export function commandsOf(page: string): readonly string[] {
  return blocksOf(page).flatMap(({ language, text }) =>
    language === "sh" ? text.replaceAll("\\\n", " ").trim().split("\n") : [],
  );
}

/** Types a page's shell blocks into one shell; `…` in what is promised stands for anything. */
export function typePage(page: string, cwd: string, env: Readonly<Record<string, string>>): void {
  const blocks = blocksOf(page);
  const steps = blocks.flatMap(({ language, text }, at) =>
    language === "sh"
      ? [{ typed: text, promised: blocks[at + 1]?.language === "text" ? blocks[at + 1]?.text : "" }]
      : [],
  );
  const printed = typeLines(
    steps.map(({ typed }) => typed),
    cwd,
    env,
  );
  for (const [at, { promised = "" }] of steps.entries()) {
    const pieces = promised.trim().split(/\s*…\s*/);
    const pattern = pieces
      .map((piece) => RegExp.escape(piece).replaceAll(/(?:\\x20|\\n|\s)+/g, "\\s+"))
      .join("[\\s\\S]*?");
    expect(printed[at]).toMatch(new RegExp(pattern));
  }
}

/** Types into one shell what must succeed; answers what each piece printed. */
export function typeLines(
  typed: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): readonly string[] {
  const script = ["set -e", "exec 2>&1", "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT", ...typed];
  const { status, stdout } = spawnSync("bash", ["-c", script.join(`\necho '${MARK}'\n`)], {
    cwd,
    encoding: "utf8",
    env,
  });
  expect(status, stdout).toBe(0);
  return stdout.split(MARK).slice(3);
}
