/** Asks a person to approve a call, and reads the answer. */
import {
  type InputRequest,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { visible, visibleJson } from "../../../kernel/kit/text.ts";
import { type ApprovalDecision, ApprovalDecision as Decisions } from "../../../kernel/kit/turns.ts";
import type { Caller } from "../../agent/services.ts";

const KEY = "approval";
const MAX_PARAMS_LENGTH = 4000;
const MIN_PARAMS_SHARE = 200;

export interface ApprovalQuestion {
  readonly tool: string;
  /** The params as JSON, one for each call that the answer is for. */
  readonly params: readonly string[];
  readonly grants: readonly string[];
  readonly decisions: readonly ApprovalDecision[];
  /** In words, where it is offered. */
  readonly rule?: string | undefined;
  /** The reason for asking although the tool may run; empty if it always asks. */
  readonly why: string;
}

const MEANING: Readonly<Record<ApprovalDecision, string>> = {
  once: "this call only",
  always: "this and later calls of the tool",
  destination: "this call, and later calls of the tool to this destination",
  rule: "this call, and from now on",
  deny: "do not run it",
};

/** A token with a scope cannot allow anything for good: that would reach beyond the token. */
export function askApproval(asked: ApprovalQuestion, { scope }: Caller): Record<string, InputRequest> {
  const decisions = asked.decisions.filter(
    (decision) => scope === undefined || decision === "once" || decision === "deny",
  );
  return {
    [KEY]: inputRequired.elicit({
      message: messageFor(asked),
      requestedSchema: {
        type: "object",
        properties: {
          decision: {
            type: "string",
            title: "Decision",
            description: decisions
              .map((one) => `${one}: ${MEANING[one]}${one === "rule" ? ` ${asked.rule}` : ""}.`)
              .join(" "),
            enum: decisions,
          },
        },
        required: ["decision"],
      },
    }),
  };
}

/** A refusal to answer is a "deny". Undefined if there is no answer to this question at all. */
export function readApproval({ mcpReq }: ServerContext): ApprovalDecision | undefined {
  const answer = inputResponse(mcpReq.inputResponses, KEY);
  if (answer.kind !== "elicit") return undefined;
  const decision = answer.action === "accept" ? answer.content?.["decision"] : "deny";
  return Decisions.enum.find((one) => one === decision) ?? "deny";
}

function messageFor({ tool, params, grants, why }: ApprovalQuestion): string {
  const may = grants.map((grant) => `- ${visible(grant)}`).join("\n");
  const [first = ""] = params;
  return [
    `Allow the tool ${tool} to run?`,
    ...(why === "" ? [] : [`Why you are asked: ${visible(why)}.`]),
    ...(may === "" ? [] : [`What it may do:\n${may}`]),
    params.length === 1
      ? `It is called with:\n${shown(first, MAX_PARAMS_LENGTH)}`
      : `It is called ${params.length} times, and your answer is for all of them:\n${list(params)}`,
  ].join("\n\n");
}

/** Each gets its share of the length, so that a long one does not hide another. */
function list(all: readonly string[]): string {
  const share = Math.max(MIN_PARAMS_SHARE, Math.floor(MAX_PARAMS_LENGTH / all.length));
  return all.map((params, at) => `${at + 1}. ${shown(params, share)}`).join("\n");
}

/** Indents only short params: deeply nested ones would grow with the square of their depth. */
function shown(params: string, maxLength: number): string {
  const isShort = params.length <= maxLength;
  const text = visibleJson(isShort ? JSON.stringify(JSON.parse(params), undefined, 2) : params);
  return text.length <= maxLength
    ? text
    : `${text.slice(0, maxLength)}\n… (${text.length - maxLength} more characters)`;
}
