/** One call of an installed tool, over as many requests as it takes to ask for what it needs. */
import { randomUUID } from "node:crypto";
import {
  type CallToolResult,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { decisionsAt } from "../../../kernel/kit.ts";
import type { Caller, CallOutcome, Services, ToolCall } from "../../../kernel/plugin.ts";
import { abilitiesOf } from "../asking/abilities.ts";
import { askApproval, readApproval } from "../asking/approval.ts";
import type { Places } from "../asking/places.ts";
import { askQuestions, canAsk, closed, readReplies } from "../asking/questions.ts";
import type { States, Waiting } from "../asking/states.ts";
import { failure, resultOf } from "./result.ts";

export interface CallParts {
  readonly server: Server;
  readonly caller: Caller;
  readonly toolCalls: Services["toolCalls"];
  readonly approvals: Services["approvals"];
  readonly states: States;
  readonly places: Places;
}

export type Answer = CallToolResult | InputRequiredResult;

type Outcome = Awaited<ReturnType<Services["toolCalls"]["call"]>>;

const USED = failure("This answer has been used already. Call the tool again.");

export function createCalls({ server, caller, toolCalls, approvals, states, places }: CallParts) {
  return async (name: string, params: string, context: ServerContext): Promise<Answer> => {
    const { signal } = context.mcpReq;
    const going = states.read(name, params, context);

    const ask = async (waiting: Waiting, inputRequests: Record<string, InputRequest>): Promise<Answer> =>
      inputRequired({ inputRequests, requestState: await states.mint(waiting, name, params, context) });

    async function begin(call: ToolCall, approved?: string): Promise<Outcome> {
      return toolCalls.call(call, caller, { signal, ...(approved !== undefined && { approved }) });
    }

    async function settle(call: ToolCall, outcome: Outcome): Promise<Answer> {
      const able = abilitiesOf(server, context);
      switch (outcome.status) {
        case "ok":
          return resultOf(outcome);
        case "error":
          if (outcome.code !== "unknown_tool") return resultOf(outcome);
          throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
        case "ask": {
          const { fingerprint, grants } = outcome;
          if (!able.form) return failure(places.allow(name));
          // The caller made the call: there is nobody else whose values could be in it.
          const decisions = decisionsAt({ fingerprint });
          const asked = askApproval({ tool: name, params: [params], grants, decisions, why: "" }, caller);
          return ask({ for: "approval", call: call.id, fingerprint }, asked);
        }
        case "unauthenticated": {
          const url = places.tool(name);
          // A person who was just sent there and comes back without a credential is told, not sent again.
          if (!able.url || url === undefined || going?.waiting.for === "sign_in")
            return failure(`${outcome.message} ${places.signIn(name)}`);
          const sign_in = inputRequired.elicitUrl({ message: outcome.message, url });
          return ask({ for: "sign_in" }, { sign_in });
        }
        case "question": {
          const { server: who, questions, resume } = outcome;
          if (canAsk(able, questions)) {
            const keys = questions.map(({ key }) => key);
            const waiting = { for: "question", call: call.id, resume: states.seal(resume), keys } as const;
            return ask(waiting, askQuestions(who, questions));
          }
          // The server behind the tool is told that nobody answers, and need not wait.
          await goOn(call, resume, closed(questions)).catch(() => {});
          return failure(
            `The MCP server ${who} asks a person before it goes on, and this client cannot ask. Use the tool from a conversation with the agent instead.`,
          );
        }
      }
    }

    const goOn = (call: ToolCall, resume: string, replies: Parameters<Services["toolCalls"]["resume"]>[2]) =>
      toolCalls.resume(call, resume, replies, caller, { signal }) as Promise<CallOutcome>;

    const { waiting } = going ?? {};
    const call = { id: waiting && "call" in waiting ? waiting.call : randomUUID(), name, params };
    if (
      going === undefined ||
      waiting === undefined ||
      (waiting.for !== "question" && waiting.for !== "approval")
    )
      return settle(call, await begin(call));

    if (waiting.for === "question") {
      if (!(await states.spend(going.id))) return USED;
      const replies = readReplies(context, waiting.keys);
      return settle(call, await goOn(call, states.unseal(waiting.resume), replies));
    }

    const decision = readApproval(context);
    // The state came back without an answer: the question stands.
    if (decision === undefined) return settle(call, await begin(call));
    if (decision !== "once" && decision !== "always")
      return failure(`The call of ${name} was not allowed. Do not try it again.`);
    if (decision === "always" && caller.scope !== undefined)
      return failure(
        'A token with a scope cannot allow a tool for good: answer "once", or use another token.',
      );
    if (!(await states.spend(going.id))) return USED;
    if (decision === "always") await approvals.remember(caller.user, name, "allow", waiting.fingerprint);
    // Where another tool has taken the name since, that one asks.
    return settle(call, await begin(call, waiting.fingerprint));
  };
}
