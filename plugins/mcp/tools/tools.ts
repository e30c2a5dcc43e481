/** `tools/list` and `tools/call`: the installed tools that the caller may use, and `ask`. */
import { isInputRequiredResult } from "@modelcontextprotocol/server";
import { Fault } from "../../../kernel/plugin.ts";
import type { Guarded } from "../guard.ts";
import { pageOf } from "../lists/paging.ts";
import { ASK, ASK_TOOL, type AskParts, createAsk } from "./ask.ts";
import { type CallParts, createCalls } from "./call.ts";
import { describeTool } from "./listing.ts";
import { failure } from "./result.ts";

export function serveTools({ handle }: Guarded, parts: AskParts & CallParts): void {
  const { server, toolCalls, caller } = parts;
  const ask = createAsk(parts);
  const call = createCalls(parts);

  handle("tools/list", async ({ params }) => {
    // Ours wins: an installed tool of that name would be another for every host that knows this server.
    const installed = (await toolCalls.list(caller)).filter(({ name }) => name !== ASK);
    const { page, next } = pageOf(installed, ({ name }) => name, params?.cursor);
    const own = params?.cursor === undefined ? [ASK_TOOL] : [];
    return { tools: [...own, ...(await Promise.all(page.map(describeTool)))], ...next };
  });

  handle("tools/call", async ({ params: { name, arguments: given = {} } }, context) => {
    const params = JSON.stringify(given);
    const answering = name === ASK ? ask(given, params, context) : call(name, params, context);
    const answer = await answering.catch((error: unknown) => {
      if (error instanceof Fault) return failure(error.message);
      throw error;
    });
    return isInputRequiredResult(answer) ? answer : server.projectCallToolResult(answer, undefined);
  });
}
