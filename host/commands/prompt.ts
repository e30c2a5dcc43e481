/** The person at the terminal, or whatever is piped in: one line for each secret. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { isCancel, password, text } from "@clack/prompts";
import type { Prompt } from "../secrets/auth.ts";
import { isInteractive, progress } from "./terminal.ts";

// Questions go to stderr: stdout belongs to the result.
const output = process.stderr;

export function terminalPrompt(): Prompt {
  return isInteractive() ? interactive() : piped();
}

function interactive(): Prompt {
  const unlessCancelled = (answer: string | symbol) => (isCancel(answer) ? undefined : String(answer));
  return {
    say: progress,
    secret: async (message) => unlessCancelled(await password({ message, output })),
    text: async (message, signal) => unlessCancelled(await text({ message, output, signal })),
    browse,
  };
}

function piped(): Prompt {
  let lines: AsyncIterator<string> | undefined;
  return {
    say: progress,
    async secret(question) {
      progress(`${question}: read from standard input`);
      lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
      const { value, done } = await lines.next();
      return done ? undefined : value;
    },
    text: async () => undefined,
    browse: async () => false,
  };
}

const OPENERS: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};
const LAUNCH_MILLIS = 1500;

/** An opener that fails does so at once; one that is still running has found a browser. */
function browse(url: string): Promise<boolean> {
  const [command, ...args] = OPENERS[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
    const timer = setTimeout(() => resolve(true), LAUNCH_MILLIS);
    const settle = (isOpen: boolean) => {
      clearTimeout(timer);
      resolve(isOpen);
    };
    child.once("error", () => settle(false));
    child.once("exit", (code) => settle(code === 0));
    child.unref();
  });
}
