/** `ask`: one turn of the agent as a tool. */
import type { CallToolResult, ServerContext, Tool } from "@modelcontextprotocol/server";
import { limitWords, RATE_LIMIT_EXCEEDED } from "../../../kernel/net/rate-limit.ts";
import {
  type Agent,
  type Caller,
  Fault,
  type Limiter,
  type Log,
  type RunningTurn,
  type TurnRecord,
} from "../../../kernel/plugin.ts";
import { compileCheck } from "../../../kernel/vocabulary/schema/check.ts";
import { describeMistake } from "../../../kernel/vocabulary/schema/mistake.ts";
import { failure } from "./result.ts";

export const ASK = "ask";

const PARAMS = {
  type: "object" as const,
  properties: {
    message: { type: "string", minLength: 1, description: "What to say to the agent" },
    thread_id: { type: "string", description: "Goes on with this conversation; absent starts a new one" },
  },
  required: ["message"],
  additionalProperties: false,
};

export const ASK_TOOL: Tool = {
  name: ASK,
  title: "Ask the agent",
  description:
    "Sends a message to the Postern agent, which has tools, skills and a memory of its own, and waits for its answer. The result names the thread; pass thread_id to go on with it.",
  inputSchema: PARAMS,
  outputSchema: {
    type: "object",
    properties: {
      thread_id: { type: "string" },
      text: { type: "string" },
      status: { type: "string", enum: ["completed", "waiting", "failed", "cancelled"] },
    },
    required: ["thread_id", "text", "status"],
  },
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
};

export interface AskParts {
  readonly agent: Agent;
  readonly chatLimit: Limiter;
  readonly caller: Caller;
  readonly log: Log;
}

const check = compileCheck(PARAMS);

export function createAsk({ agent, chatLimit, caller }: AskParts) {
  return async (params: unknown, context: ServerContext): Promise<CallToolResult> => {
    const [mistake] = check(params);
    if (mistake) return failure(`${describeMistake(mistake, "The arguments")}.`);
    const { message, thread_id: thread } = params as { message: string; thread_id?: string };
    const verdict = await chatLimit.take(caller.user);
    if (!verdict.ok)
      throw new Fault("limited", RATE_LIMIT_EXCEEDED, limitWords(verdict), {
        retryAfterSecs: verdict.resetSecs,
      });
    const turn = await agent.run({
      ...caller,
      input: { type: "message", text: message },
      ...(thread !== undefined && { thread }),
    });
    return answerOf(await follow(turn, context));
  };
}

/** The turn to its end, its text told as it comes. It stops when the caller does not want it any more. */
async function follow(turn: RunningTurn, { mcpReq }: ServerContext): Promise<TurnRecord> {
  const stop = () => turn.cancel();
  mcpReq.signal.addEventListener("abort", stop, { once: true });
  if (mcpReq.signal.aborted) stop();
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  try {
    for await (const event of turn) {
      if (progressToken === undefined || mcpReq.signal.aborted || !TOLD.has(event.type)) continue;
      progress += 1;
      const said = event.type === "text" ? { message: event.delta } : {};
      const params = { progressToken, progress, ...said };
      // A client that is gone misses it; the turn does not wait for it.
      await mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
    }
    return await turn.record;
  } finally {
    mcpReq.signal.removeEventListener("abort", stop);
  }
}

/** The messages together are the text; the others only show that something goes on. */
const TOLD = new Set(["text", "reasoning", "tool_started", "tool_finished", "notice"]);

function answerOf({ thread, status, items, error }: TurnRecord): CallToolResult {
  const text = items
    .flatMap((item) => (item.type === "message" && item.role === "assistant" ? [item.text] : []))
    .join("\n\n");
  const said =
    status === "failed" ? [text, error?.message ?? ""].filter((part) => part !== "").join("\n\n") : text;
  return {
    content: [
      { type: "text", text: said },
      // Models read the text and not always the rest.
      { type: "text", text: `thread_id: ${thread}` },
    ],
    structuredContent: { thread_id: thread, text: said, status },
    ...(status === "failed" && { isError: true }),
  };
}
