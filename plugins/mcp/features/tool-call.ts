/** One call of an installed tool, over as many requests as it takes to ask a person for what it needs. */
import { randomUUID } from "node:crypto";
import {
  type CallToolResult,
  type ContentBlock,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { CallOutcome } from "../../../host/services.ts";
import { decisionsAt, findSources, type Source } from "../../../kernel/kit/display.ts";
import type { Services, ToolCall } from "../../../kernel/plugin.ts";
import type { Caller } from "../../agent/services.ts";
import { askApproval, readApproval } from "../elicitation/approval.ts";
import type { PageLinks } from "../elicitation/page-links.ts";
import { askQuestions, canAsk, cancelAll, readReplies } from "../elicitation/questions.ts";
import type { AwaitedInput, RequestStates } from "../elicitation/request-state.ts";
import type { ServerParts } from "../parts.ts";
import { abilitiesOf } from "../protocol/client.ts";

/** The parts that serve one caller on one request, session or connection. */
export interface CallParts extends ServerParts {
  readonly server: Server;
  readonly caller: Caller;
  readonly states: RequestStates;
  readonly links: PageLinks;
}

export type ToolCallReply = CallToolResult | InputRequiredResult;

type Outcome = Awaited<ReturnType<Services["toolCalls"]["call"]>>;

/** A failing tool is a result that the model reads, not an error of the protocol. */
export const failure = (text: string): CallToolResult => ({
  content: [{ type: "text", text }],
  isError: true,
});

const USED = failure("This answer has been used already. Call the tool again.");

export function createCalls({ server, caller, toolCalls, approvals, states, links }: CallParts) {
  return async (name: string, params: string, context: ServerContext): Promise<ToolCallReply> => {
    const { signal } = context.mcpReq;
    const { id = "", waiting } = states.read(name, params, context) ?? {};

    const ask = async (
      next: AwaitedInput,
      inputRequests: Record<string, InputRequest>,
    ): Promise<ToolCallReply> =>
      inputRequired({ inputRequests, requestState: await states.mint(next, name, params, context) });

    const begin = (call: ToolCall, approved?: string): Promise<Outcome> =>
      toolCalls.call(call, caller, { signal, approved });

    const resume = (call: ToolCall, state: string, replies: Parameters<Services["toolCalls"]["resume"]>[2]) =>
      toolCalls.resume(call, state, replies, caller, { signal }) as Promise<CallOutcome>;

    async function settle(call: ToolCall, outcome: Outcome): Promise<ToolCallReply> {
      const able = abilitiesOf(server, context);
      switch (outcome.status) {
        case "ok":
          return resultOf(outcome);
        case "error":
          if (outcome.code !== "unknown_tool") return resultOf(outcome);
          throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
        case "ask": {
          const { fingerprint, grants } = outcome;
          if (!able.form) return failure(links.allow(name));
          // The caller made the call, so its values come from nobody else.
          const decisions = decisionsAt({ fingerprint });
          const asked = askApproval({ tool: name, params: [params], grants, decisions, why: "" }, caller);
          return ask({ for: "approval", call: call.id, fingerprint }, asked);
        }
        case "unauthenticated": {
          const url = links.tool(name);
          // A person who was just sent there and comes back without a credential is not sent again.
          if (!able.url || url === undefined || waiting?.for === "sign_in")
            return failure(`${outcome.message} ${links.signIn(name)}`);
          const sign_in = inputRequired.elicitUrl({ message: outcome.message, url });
          return ask({ for: "sign_in" }, { sign_in });
        }
        case "question": {
          const { server: who, questions, resume: state } = outcome;
          if (canAsk(able, questions)) {
            const keys = questions.map(({ key }) => key);
            const next = { for: "question", call: call.id, resume: states.seal(state), keys } as const;
            return ask(next, askQuestions(who, questions));
          }
          // The server behind the tool must not wait for an answer that never comes.
          await resume(call, state, cancelAll(questions)).catch(() => {});
          return failure(
            `The MCP server ${who} asks a person before it continues, and this client cannot ask. Use the tool from a conversation with the agent instead.`,
          );
        }
      }
    }

    const call = { id: waiting && "call" in waiting ? waiting.call : randomUUID(), name, params };
    if (waiting?.for === "question") {
      if (!(await states.markUsed(id))) return USED;
      const replies = readReplies(context, waiting.keys);
      return settle(call, await resume(call, states.unseal(waiting.resume), replies));
    }

    const decision = waiting?.for === "approval" ? readApproval(context) : undefined;
    // Also if the state came back without an answer: then it asks again.
    if (waiting?.for !== "approval" || decision === undefined) return settle(call, await begin(call));
    if (decision !== "once" && decision !== "always")
      return failure(`The call of ${name} was not allowed. Do not try it again.`);
    if (decision === "always" && caller.scope !== undefined)
      return failure(
        'A token with a scope cannot allow a tool for good: answer "once", or use another token.',
      );
    if (!(await states.markUsed(id))) return USED;
    if (decision === "always") await approvals.remember(caller.user, name, "allow", waiting.fingerprint);
    // If another tool has taken the name since, that one asks.
    return settle(call, await begin(call, waiting.fingerprint));
  };
}

type Settled = Extract<CallOutcome, { status: "ok" | "error" }>;

function resultOf(outcome: Settled): CallToolResult {
  const attached = outcome.attached?.map(contentOf) ?? [];
  if (outcome.status === "error") {
    const { content, ...rest } = failure(outcome.message);
    return { ...rest, content: [...content, ...attached] };
  }
  const structured = outcome.structured ?? readJson(outcome.output);
  return {
    content: [
      { type: "text", text: outcome.output },
      ...attached,
      ...findSources([outcome.output], outcome.output).map(linkOf),
    ],
    structuredContent: structured as Record<string, unknown> | undefined,
  };
}

export const linkOf = ({ url, title }: Source): ContentBlock => ({
  type: "resource_link",
  uri: url,
  name: title,
});

function contentOf({ attachment, data }: NonNullable<Settled["attached"]>[number]): ContentBlock {
  const { kind, mime: mimeType, id } = attachment;
  const bytes = Buffer.from(data).toString("base64");
  return kind === "file"
    ? { type: "resource", resource: { uri: `attachment:///${id}`, mimeType, blob: bytes } }
    : { type: kind, data: bytes, mimeType };
}

/** Parses objects and lists; a number or a word alone is better read as text. */
function readJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
