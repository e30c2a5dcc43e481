/** The person at the terminal, or whatever is piped in: one line for each secret. */
import { createInterface } from "node:readline";
import { isCancel, password, text } from "@clack/prompts";
import { confirms, isInteractive, whileAsking } from "../../../kernel/kit/terminal.ts";
import { visible } from "../../../kernel/kit/text.ts";
import type { Prompt } from "../../secrets/browser-sign-in.ts";
import { openBrowser } from "./browser.ts";
import { progress } from "./terminal.ts";

// Questions go to stderr: stdout belongs to the result.
const output = process.stderr;

export function terminalPrompt({ yes = false }: { readonly yes?: boolean } = {}): Prompt {
  const prompt = isInteractive() ? interactive() : piped();
  if (!yes) return prompt;
  return {
    ...prompt,
    async agrees(question) {
      progress(`${question} Yes (--yes).`);
      return true;
    },
  };
}

function interactive(): Prompt {
  const unlessCancelled = (answer: string | symbol) => (isCancel(answer) ? undefined : String(answer));
  return {
    say: progress,
    secret: async (message) =>
      unlessCancelled(await whileAsking(() => password({ message: visible(message), output }))),
    text: async (message, signal) =>
      unlessCancelled(await whileAsking(() => text({ message: visible(message), output, signal }))),
    agrees: confirms,
    browse: openBrowser,
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
    async agrees(question) {
      progress(`${question} There is no terminal to ask on; pass --yes to agree.`);
      return false;
    },
    browse: async () => false,
  };
}
