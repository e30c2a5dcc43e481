/** A real pseudo-terminal with a screen model: what a person would type and see. */

import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { spawn } from "@lydell/node-pty";
import type { Terminal as ScreenModel } from "@xterm/headless";
import { onTestFinished } from "vitest";
import type { Variables } from "../../../kernel/settings/env.ts";
import { BIN } from "../clone.ts";
import { temporaryFolder } from "../home.ts";
import type { ModelServer } from "../servers/model-server.ts";
import { scriptedModel } from "../services/agent.ts";

// The package says of itself that it is a module and is none.
const { Terminal } = createRequire(import.meta.url)("@xterm/headless") as { Terminal: typeof ScreenModel };

const PROCESS = fileURLToPath(new URL("./tui-process.ts", import.meta.url));

/** Shorter than a test's own limit, so that a failure shows the screen. */
const SIGHT_SECS = 60;

export const KEYS = {
  enter: "\r",
  shiftEnter: "\u001b[13;2u",
  /** The same from a terminal with xterm's modifyOtherKeys. */
  shiftEnterOfXterm: "\u001b[27;2;13~",
  ctrlEnterOfXterm: "\u001b[27;5;13~",
  ctrlP: "\u0010",
  ctrlN: "\u000e",
  altEnter: "\u001b\r",
  ctrlJ: "\n",
  ctrlC: "\u0003",
  ctrlL: "\u000c",
  tab: "\t",
  shiftTab: "\u001b[Z",
  escape: "\u001b",
  up: "\u001b[A",
  /** As terminals send it on a full screen. */
  wheelUp: "\u001b[A".repeat(3),
  wheelDown: "\u001b[B".repeat(3),
  down: "\u001b[B",
  right: "\u001b[C",
  left: "\u001b[D",
  pageUp: "\u001b[5~",
  pageDown: "\u001b[6~",
  home: "\u001b[H",
  end: "\u001b[F",
  backspace: "\u007f",
} as const;

export interface OpenTerminal {
  /** Everything the process wrote, escapes included. */
  output(): string;
  /** The screen as it is, without blanks at the ends. */
  lines(): readonly string[];
  text(): string;
  /** The same, with what the terminal itself wrapped as one line: what somebody who copies it gets. */
  copied(): string;
  cursor(): { readonly x: number; readonly y: number };
  type(text: string): void;
  press(...keys: (keyof typeof KEYS)[]): void;
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** Resolves when the screen holds the text, or the function says so. */
  until(sight: string | ((terminal: OpenTerminal) => boolean)): Promise<void>;
  /** Resolves when the composer holds this one line; a command is in the history too once it was sent. */
  untilDraft(text: string): Promise<void>;
  readonly exited: Promise<number>;
  readonly home: string;
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Variables;
  /** The home of an earlier terminal; otherwise it gets its own. */
  readonly home?: string;
  readonly args?: readonly string[];
  /** True for the real command line, which knows no small tools but may join a service. */
  readonly isReal?: boolean;
  /** What a small screen shows once it is ready, in place of the greeting's last line. */
  readonly firstSight?: string;
}

export function openTerminal(options: TerminalOptions = {}): OpenTerminal {
  const { columns = 80, rows = 24, env = {}, home = temporaryFolder(), args = [], isReal = false } = options;
  const screen = new Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 0 });
  const watchers = new Set<() => void>();
  let output = "";
  const child = spawn(process.execPath, [isReal ? BIN : PROCESS, ...args], {
    cols: columns,
    rows,
    cwd: home,
    name: "xterm-256color",
    env: {
      PATH: process.env["PATH"] ?? "",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
      TERM: "xterm-256color",
      POSTERN_HOME: home,
      // Most tests do not need it, and it is a third of the start.
      GATEWAY_ENABLED: "false",
      GATEWAY_PORT: "0",
      MODEL_PROVIDER: "builtin",
      ...env,
    },
  });
  child.onData((data) => {
    output += data;
    screen.write(data, () => {
      for (const watcher of watchers) watcher();
    });
  });
  let isOver = false;
  const exited = new Promise<number>((resolve) => {
    child.onExit(({ exitCode }) => {
      isOver = true;
      resolve(exitCode);
      for (const watcher of watchers) watcher();
    });
  });
  onTestFinished(async () => {
    if (!isOver) child.kill("SIGKILL");
    await exited;
    screen.dispose();
  });

  const lines = () => {
    const { active } = screen.buffer;
    return Array.from(
      { length: screen.rows },
      (_, row) => active.getLine(active.viewportY + row)?.translateToString(true) ?? "",
    );
  };
  const terminal: OpenTerminal = {
    output: () => output,
    lines,
    text: () => lines().join("\n"),
    copied: () =>
      Array.from({ length: screen.rows }, (_, row) => screen.buffer.active.getLine(row))
        .map((line) => `${line?.isWrapped ? "" : "\n"}${line?.translateToString(true) ?? ""}`)
        .join(""),
    cursor: () => ({ x: screen.buffer.active.cursorX, y: screen.buffer.active.cursorY }),
    type: (text) => child.write(text),
    press: (...keys) => {
      for (const key of keys) child.write(KEYS[key]);
    },
    paste: (text) => child.write(`\u001b[200~${text.replaceAll("\n", "\r")}\u001b[201~`),
    resize(nextColumns, nextRows) {
      screen.resize(nextColumns, nextRows);
      child.resize(nextColumns, nextRows);
    },
    until: (sight) =>
      new Promise((resolve, reject) => {
        const isSeen =
          typeof sight === "string" ? () => terminal.text().includes(sight) : () => sight(terminal);
        const look = () => {
          if (isSeen()) resolve();
          else if (isOver) reject(new Error(`it ended before ${sight} was seen:\n${output}`));
          else return;
          clearTimeout(limit);
          watchers.delete(look);
        };
        const limit = setTimeout(() => {
          watchers.delete(look);
          reject(
            new Error(`${sight} was not seen within ${SIGHT_SECS} s; the screen is\n${terminal.text()}`),
          );
        }, SIGHT_SECS * 1000);
        watchers.add(look);
        look();
      }),
    untilDraft: (text) => terminal.until((seen) => seen.lines().at(-2) === `› ${text}`.trimEnd()),
    exited,
    home,
  };
  return terminal;
}

/** The same, ready for the first message, with a scripted model behind it. */
export async function openTerminalWithModel(
  options: TerminalOptions = {},
): Promise<{ readonly model: ModelServer; readonly terminal: OpenTerminal }> {
  const model = await scriptedModel();
  const env = {
    MODEL_PROVIDER: "openai-compatible",
    MODEL_BASE_URL: model.url,
    MODEL_NAME: "scripted",
    ...options.env,
  };
  const terminal = openTerminal({ ...options, env });
  await terminal.until(options.firstSight ?? "Type a message");
  return { model, terminal };
}
