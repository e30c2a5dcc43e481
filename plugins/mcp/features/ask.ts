/** `ask`: one turn of the agent as a tool. What the turn waits for is asked through the client if that is possible. */

import {
  type CallToolResult,
  inputRequired,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import { sourcesOf, whyHeld } from "../../../kernel/kit/display.ts";
import { limitWords, RATE_LIMIT_EXCEEDED } from "../../../kernel/kit/http.ts";
import { compileCheck, describeMistake } from "../../../kernel/kit/schema.ts";
import { visible } from "../../../kernel/kit/text.ts";
import { answerText } from "../../../kernel/kit/turns.ts";
import { Fault, type Gate, type TurnEvent, type TurnRecord } from "../../../kernel/plugin.ts";
import type { RunningTurn } from "../../agent/services.ts";
import { askGate, readAnswer } from "../elicitation/gates.ts";
import { abilitiesOf } from "../protocol/client.ts";
import { type CallParts, failure, linkOf, type ToolCallReply } from "./tool-call.ts";

export const ASK = "ask";

const PARAMS = {
  type: "object" as const,
  properties: {
    message: { type: "string", minLength: 1, description: "What to say to the agent" },
    thread_id: { type: "string", description: "Continues this conversation; absent starts a new one" },
  },
  required: ["message"],
  additionalProperties: false,
};

export const ASK_TOOL: Tool = {
  name: ASK,
  title: "Ask the agent",
  description:
    "Sends a message to the Postern agent, which has tools, skills and a memory of its own, and waits for its answer. The result names the thread; pass thread_id to continue it.",
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

const check = compileCheck(PARAMS);

export function createAsk({ server, agent, threads, caller, states, links }: CallParts) {
  async function begin({ message, thread_id: thread }: { message: string; thread_id?: string }) {
    const verdict = await agent.chatLimit.take(caller.user);
    if (!verdict.ok)
      throw new Fault("limited", RATE_LIMIT_EXCEEDED, limitWords(verdict), {
        retryAfterSecs: verdict.resetSecs,
      });
    return agent.run({ ...caller, input: { type: "message", text: message }, thread });
  }

  return async (given: unknown, params: string, context: ServerContext): Promise<ToolCallReply> => {
    const [mistake] = check(given);
    if (mistake) return failure(`${describeMistake(mistake, "The arguments")}.`);
    const waiting = states.read(ASK, params, context)?.waiting;
    if (waiting?.for !== "gate") {
      const turn = await begin(given as { message: string; thread_id?: string });
      return finish(turn, turn.id);
    }
    const gate = (await threads.find(caller.user, waiting.thread))?.gate;
    if (gate?.id !== waiting.gate)
      return failure(`The question has been answered elsewhere. thread_id: ${waiting.thread}`);
    const input = readAnswer(gate, context);
    // The state came back without an answer, so it asks again.
    if (input === undefined) return (await ask(gate, waiting.first)) ?? failure(links.answer(gate.thread));
    return finish(await agent.run({ ...caller, thread: gate.thread, input }), waiting.first);

    async function finish(turn: RunningTurn, first: string): Promise<ToolCallReply> {
      const record = await follow(turn, context);
      const asked = record.gate && (await ask(record.gate, first));
      return asked ?? answerOf(record, await turnsSince(first, record));
    }

    async function ask(open: Gate, first: string): Promise<ToolCallReply | undefined> {
      const inputRequests = askGate(open, abilitiesOf(server, context), caller, links);
      if (inputRequests === undefined) return undefined;
      const state = { for: "gate", thread: open.thread, gate: open.id, first } as const;
      return inputRequired({ inputRequests, requestState: await states.mint(state, ASK, params, context) });
    }
  };

  /** Each gate ends a turn: the answer is what all turns since the first say, and rests on what all of them read. */
  async function turnsSince(first: string, last: TurnRecord): Promise<readonly TurnRecord[]> {
    if (last.id === first) return [last];
    const { items } = await threads.turns(caller.user, last.thread);
    const from = items.findIndex(({ id }) => id === first);
    return from === -1 ? [last] : items.slice(from);
  }

  function answerOf(
    { thread, status, error, gate }: TurnRecord,
    turns: readonly TurnRecord[],
  ): CallToolResult {
    const said = [
      ...turns.map(answerText),
      ...(status === "failed" ? [error?.message ?? ""] : []),
      ...(gate === undefined ? [] : [describeHold(gate), links.answer(thread)]),
    ]
      .filter((part) => part !== "")
      .join("\n\n");
    return {
      content: [
        { type: "text", text: said },
        // Models read the text, but not always the structured content.
        { type: "text", text: `thread_id: ${thread}` },
        ...sourcesOf(turns.flatMap(({ items }) => items)).map(linkOf),
      ],
      structuredContent: { thread_id: thread, text: said, status },
      isError: status === "failed" ? true : undefined,
    };
  }
}

function describeHold(gate: Gate): string {
  const why = gate.type === "approval" ? whyHeld(gate) : "";
  return why === "" ? "" : `The tool ${gate.call.name} needs approval: ${visible(why)}.`;
}
const PROGRESS_EVENTS = new Set(["text", "reasoning", "tool_started", "tool_finished", "notice"]);

/** The answer piece by piece, and each notice as a line, such as how far a delegated task is. Others only show that the turn is running. */
function progressText(event: TurnEvent): string | undefined {
  if (event.type === "text") return event.delta;
  return event.type === "notice" ? `${event.message}\n` : undefined;
}

/** Follows a turn to its end, with its text as progress. The turn stops when the request is cancelled. */
async function follow(turn: RunningTurn, { mcpReq }: ServerContext): Promise<TurnRecord> {
  const { signal } = mcpReq;
  const stop = () => turn.cancel();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  try {
    for await (const event of turn) {
      if (progressToken === undefined || signal.aborted || !PROGRESS_EVENTS.has(event.type)) continue;
      progress += 1;
      const params = { progressToken, progress, message: progressText(event) };
      // A client that is gone misses it, and the turn goes on.
      await mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
    }
    return await turn.record;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
