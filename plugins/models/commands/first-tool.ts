/** A tool that is seen working, before anybody has to know what one is. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { isCancel, select } from "@clack/prompts";
import { OPERATOR, say, type Tools, visible, warn } from "../../../kernel/kit.ts";
import type { CommandContext, ToolInfo } from "../../../kernel/plugin.ts";

const NAME = "convert";
const PARAMS = { value: 26.2, from: "miles", to: "km" };
// On a new home the shipped tools are compiled first.
const TIMEOUT_MS = 120_000;
const LOOK_MS = 200;

export async function tryFirstTool(context: CommandContext): Promise<void> {
  const answer = await select({
    message: `Try a first tool? ${NAME} turns 26.2 miles into km, in a sandbox of its own`,
    options: [
      { value: true, label: "Yes" },
      { value: false, label: "No" },
    ],
    output: process.stderr,
  });
  if (isCancel(answer) || !answer) return;
  await context.with([], ({ tools }) => runFirst(tools), { wants: ["tools"], stays: true });
}

async function runFirst(tools: Tools | undefined): Promise<void> {
  const tool = tools && (await find(tools));
  if (tools === undefined || tool === undefined) {
    warn(`${NAME} is not installed here; "postern tool search" shows what there is.\n`);
    return;
  }
  const params = JSON.stringify(PARAMS);
  const outcome = await tools.call({ id: randomUUID(), name: NAME, params }, { user: OPERATOR });
  const result = outcome.status === "ok" ? outcome.output : `it ${outcome.status}`;
  say(
    `\n${NAME} ${params}\n  → ${visible(result)}\n${tool.grants.map((grant) => `  - ${grant}\n`).join("")}`,
  );
}

async function find(tools: Tools): Promise<ToolInfo | undefined> {
  const until = Date.now() + TIMEOUT_MS;
  for (let waited = false; Date.now() < until; waited = true) {
    const found = (await tools.list()).find(({ name }) => name === NAME);
    if (found !== undefined) return found;
    if (!waited) warn("Getting the shipped tools ready; this takes a few seconds, once.\n");
    await sleep(LOOK_MS);
  }
  return undefined;
}
