/** The one way to a person's terminal: whatever a stranger wrote in it is made visible, not acted on. */
import { styleText } from "node:util";
import { visible, visibleJson } from "../text/visible.ts";

let program = "postern";

/** Called once, with the words that the program was started by. */
export function setTypedCommand(words: string): void {
  program = words;
}

/** What a person types before a command: `postern`, or `npx postern` where that was used. */
export const typedCommand = (): string => program;

// Only where a command of ours may follow: the name of the product is written with a capital.
const COMMAND = /(^|[\s"'`(])(?<!npx )postern (?=[-[a-z])/gm;

/** A hint as the person would type it. */
export function asTyped(text: string): string {
  return program === "postern" ? text : text.replaceAll(COMMAND, `$1${program} `);
}

export function say(text: string): void {
  process.stdout.write(visible(asTyped(text)));
}

/** Prints what somebody else wrote, or a model: nothing in it is changed. */
export function sayText(text: string): void {
  process.stdout.write(visible(text));
}

/** Results for programs: the same value, written so that a terminal may show it too. */
export function sayJson(value: unknown, indent?: number): void {
  process.stdout.write(`${visibleJson(JSON.stringify(value, undefined, indent))}\n`);
}

/** Lines that were made visible before our own colours came in, as those of the log are. */
export function sayPainted(text: string): void {
  process.stdout.write(text);
}

/** Prints progress, a warning or an error to stderr. */
export function warn(text: string): void {
  process.stderr.write(`${isSpinning ? CLEAR : ""}${visible(asTyped(text))}`);
}

/** Prints why a command failed: who says it is red where stderr takes colours. */
export function sayError(text: string): void {
  process.stderr.write(
    visible(asTyped(text)).replace(/^(?:postern|error):/, (who) =>
      styleText("red", who, { stream: process.stderr }),
    ),
  );
}

/** Prints help: headings are bold where stdout takes colours. */
export function sayHelp(text: string): void {
  process.stdout.write(
    asTyped(text).replace(/^(?:Usage:|[A-Z][\w ]*:$)/gm, (heading) =>
      styleText("bold", heading, { stream: process.stdout }),
    ),
  );
}

const CLEAR = "\r\x1b[K";
const FRAMES = [..."⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"];
const FRAME_MS = 100;

let isSpinning = false;

/** Does work that may take seconds. On a terminal a line below what is printed says meanwhile for how long; not with `--json`. */
export async function waitFor<Result>(
  about: string,
  { json = false }: { readonly json?: boolean },
  work: () => Promise<Result>,
): Promise<Result> {
  if (json || process.stderr.isTTY !== true) return await work();
  const since = performance.now();
  const timer = setInterval(() => {
    if (!isSpinning) return;
    const passed = performance.now() - since;
    const frame = FRAMES[Math.floor(passed / FRAME_MS) % FRAMES.length];
    // The cursor stands before it, so that whoever else writes does so over it.
    process.stderr.write(`${CLEAR}${frame} ${visible(about)}, ${Math.floor(passed / 1000)} s\r`);
  }, FRAME_MS);
  isSpinning = true;
  try {
    return await work();
  } finally {
    clearInterval(timer);
    isSpinning = false;
    process.stderr.write(CLEAR);
  }
}

/** Asks the person something, with no line below the question that says how long something takes. */
export async function whileAsking<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const wasSpinning = isSpinning;
  if (wasSpinning) process.stderr.write(CLEAR);
  isSpinning = false;
  try {
    return await ask();
  } finally {
    isSpinning = wasSpinning;
  }
}

const EVERY_MS = 200;

/** Progress as one line that changes, on a terminal; nothing where nobody looks. */
export function openStatusLine(): { show(text: string): void; end(): void } {
  let last = 0;
  return {
    show(text) {
      if (process.stderr.isTTY !== true || Date.now() - last < EVERY_MS) return;
      last = Date.now();
      process.stderr.write(`\r\x1b[K${visible(text)}`);
    },
    end() {
      if (last > 0) process.stderr.write("\r\x1b[K");
    },
  };
}
