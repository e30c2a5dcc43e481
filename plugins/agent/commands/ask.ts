/** `postern ask "…"`: one question, answered on standard output. Made for scripts. */

import { fstatSync } from "node:fs";
import type { Command } from "commander";
import { sourcesOf, whyHeld } from "../../../kernel/kit/display.ts";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { say, sayJson, sayText } from "../../../kernel/kit/terminal.ts";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { type CommandContext, Fault, type Gate, type TurnEvent, type Use } from "../../../kernel/plugin.ts";
import type { RunningTurn } from "../services.ts";
import { findThread } from "./thread.ts";

interface AskOptions {
  readonly json?: boolean;
  readonly thread?: string;
  readonly verbose?: boolean;
}

export function register(command: Command, context: CommandContext): void {
  command
    .argument("<question...>")
    .option("--json", "print every event of the turn, one JSON object per line")
    .option("--thread <id>", "continue this thread; the beginning of its id is enough")
    .option("--verbose", "print log lines on standard error")
    .addHelpText(
      "after",
      `
Examples:
  $ postern ask "What can you do?"
  $ postern ask --json "What can you do?" | jq -r 'select(.type == "text").delta'
  $ git diff | postern ask "Review this change"`,
    )
    .action(
      async (words: readonly string[], { json = false, thread: given, verbose = false }: AskOptions) => {
        const piped = await readPiped();
        const text = [words.join(" ").trim(), piped].filter((part) => part !== "").join("\n\n");
        if (text === "")
          throw new Fault("invalid", "empty_message", "The question is empty.", { usage: true });
        const ask = async ({ conversations }: Use<"conversations", never>) => {
          const thread =
            given === undefined ? undefined : (await findThread(conversations, OPERATOR, given)).id;
          const run = await conversations.ask(text, thread);
          const cancel = () => run.cancel();
          let isRead = true;
          // Whoever read the answer, such as `head`, has seen enough: that is how it should end, not a failure.
          const onClosed = () => {
            isRead = false;
            run.cancel();
          };
          process.once("SIGINT", cancel);
          process.stdout.once("error", onClosed);
          try {
            await (json ? printEvents(run) : printText(run));
          } catch (error) {
            if (isRead) throw error;
          } finally {
            process.off("SIGINT", cancel);
            process.stdout.off("error", onClosed);
          }
          if (json && isRead && (await run.record).status !== "completed") process.exitCode = 1;
        };
        await context.with(["conversations"], ask, { isQuiet: !verbose });
      },
    );
}

/** Reads standard input only if a shell piped it in. Anything else may stay open for ever without a word. */
async function readPiped(): Promise<string> {
  const input = fstatSync(process.stdin.fd);
  if (!input.isFIFO() && !input.isFile()) return "";
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk;
  return text.trim();
}

async function printEvents(run: RunningTurn): Promise<void> {
  for await (const event of run) sayJson(withoutResume(event));
}

/** The resumption of a call that asked something is for the host alone. */
function withoutResume(event: TurnEvent): unknown {
  const hide = (gate: Gate) => ({ ...gate, resume: undefined });
  if (event.type === "gate") return { ...event, gate: hide(event.gate) };
  const gate = "record" in event ? event.record.gate : undefined;
  return gate && "record" in event ? { ...event, record: { ...event.record, gate: hide(gate) } } : event;
}

const WAITS: Readonly<Record<Gate["type"], string>> = {
  approval: "an approval",
  authentication: "a credential",
  question: "an answer to its question",
  external_tool: "the program that declared it",
};

async function printText(run: RunningTurn): Promise<void> {
  let item = "";
  let last = "\n";
  for await (const event of run) {
    if (event.type !== "text") continue;
    if (item !== "" && event.item !== item) say("\n\n");
    ({ item } = event);
    last = event.delta;
    sayText(event.delta);
  }
  if (!last.endsWith("\n")) say("\n");
  const { status, error, gate, items } = await run.record;
  const sources = sourcesOf(items).map(({ title, url }, at) => `${at + 1}. ${visibleLine(title)} ${url}\n`);
  if (sources.length > 0) sayText(`\nSources:\n${sources.join("")}`);
  if (error) throw new Fault("turn", error.code, error.message);
  if (gate) {
    const why = gate.type === "approval" ? whyHeld(gate) : "";
    const message = `the tool ${gate.call.name} is waiting for ${WAITS[gate.type]}${why === "" ? "" : ` (${why})`}: open the thread in "postern" or in the web UI`;
    throw new Fault("turn", "gate_open", message);
  }
  if (status === "cancelled") throw new Fault("turn", "cancelled", "cancelled");
}
