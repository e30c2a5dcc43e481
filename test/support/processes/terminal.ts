/** The real command line in a pseudo-terminal, for what only happens when a person is there. */

import { stripVTControlCharacters } from "node:util";
import { spawn } from "@lydell/node-pty";
import { onTestFinished } from "vitest";
import { BIN } from "../clone.ts";

export interface TerminalSession {
  /** Everything that was on the screen so far, without colours and cursor movements. */
  text(): string;
  shows(text: string): Promise<void>;
  type(keys: string): void;
  readonly ended: Promise<number>;
}

export function posternInTerminal(
  args: readonly string[],
  {
    env,
    cwd,
    bin = BIN,
  }: { readonly env: Readonly<Record<string, string>>; readonly cwd: string; readonly bin?: string },
): TerminalSession {
  const pty = spawn(process.execPath, [bin, ...args], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", ...env },
    cols: 120,
    rows: 40,
  });
  let raw = "";
  const text = () => stripVTControlCharacters(raw);
  const watchers = new Set<() => void>();
  const wake = () => {
    for (const watcher of watchers) watcher();
  };
  let isOver = false;
  pty.onData((chunk) => {
    raw += chunk;
    wake();
  });
  const ended = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      isOver = true;
      resolve(exitCode);
      wake();
    });
  });
  onTestFinished(async () => {
    if (!isOver) pty.kill("SIGKILL");
    await ended;
  });
  return {
    text,
    ended,
    type: (keys) => pty.write(keys),
    shows: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (text().includes(wanted)) resolve();
          else if (isOver)
            reject(new Error(`it ended without showing ${JSON.stringify(wanted)}:\n${text()}`));
          else return;
          watchers.delete(look);
        };
        watchers.add(look);
        look();
      }),
  };
}
