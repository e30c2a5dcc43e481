/** A page's shell blocks, typed word for word, and held against the output that the page promises below them. */
import { execFile } from "node:child_process";
import { expect } from "vitest";
import { afterThisTest } from "../undo.ts";

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
export async function typePage(
  page: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const blocks = blocksOf(page);
  const steps = blocks.flatMap(({ language, text }, at) =>
    language === "sh"
      ? [{ typed: text, promised: blocks[at + 1]?.language === "text" ? blocks[at + 1]?.text : "" }]
      : [],
  );
  const printed = await typeLines(
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
export async function typeLines(
  typed: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const script = ["set -e", "exec 2>&1", "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT", ...typed];
  const stop = new AbortController();
  afterThisTest(() => stop.abort());
  const { error, stdout } = await new Promise<{ error: Error | null; stdout: string }>((resolve) => {
    const options = { cwd, env, maxBuffer: 2 ** 26, signal: stop.signal };
    execFile("bash", ["-c", script.join(`\necho '${MARK}'\n`)], options, (error, stdout) =>
      resolve({ error, stdout }),
    );
  });
  expect(error, stdout).toBeNull();
  return stdout.split(MARK).slice(3);
}
