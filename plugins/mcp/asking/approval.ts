/** May this call be made: the question, and how the answer is read. */
import {
  type InputRequest,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { ApprovalDecision as Decisions, visible, visibleJson } from "../../../kernel/kit.ts";
import type { ApprovalDecision, Caller } from "../../../kernel/plugin.ts";

const KEY = "approval";
const LONGEST_PARAMS = 4000;
const SHORTEST_SHARE = 200;

export interface Asked {
  readonly tool: string;
  /** JSON texts, one for each call that the answer is for. */
  readonly params: readonly string[];
  /** In words, what the tool may do. */
  readonly grants: readonly string[];
  readonly decisions: readonly ApprovalDecision[];
  /** Why it is asked although the tool may run; empty where it always asks. */
  readonly why: string;
}

const MEANING: Readonly<Record<ApprovalDecision, string>> = {
  once: "this call only",
  always: "this and later calls of the tool",
  destination: "this call, and later calls of the tool to this destination",
  deny: "do not run it",
};

/** A token with a scope cannot allow anything for good: that would reach beyond the token. */
export function askApproval(asked: Asked, { scope }: Caller): Record<string, InputRequest> {
  const decisions = asked.decisions.filter(
    (decision) => scope === undefined || decision === "once" || decision === "deny",
  );
  return {
    [KEY]: inputRequired.elicit({
      message: wordsOf(asked),
      requestedSchema: {
        type: "object",
        properties: {
          decision: {
            type: "string",
            title: "Decision",
            description: decisions.map((decision) => `${decision}: ${MEANING[decision]}.`).join(" "),
            enum: decisions,
          },
        },
        required: ["decision"],
      },
    }),
  };
}

/** A refusal to answer is a "deny". Undefined where there is no answer to this question at all. */
export function readApproval({ mcpReq }: ServerContext): ApprovalDecision | undefined {
  const answer = inputResponse(mcpReq.inputResponses, KEY);
  if (answer.kind !== "elicit") return undefined;
  const decision = answer.action === "accept" ? answer.content?.["decision"] : "deny";
  return Decisions.enum.find((one) => one === decision) ?? "deny";
}

function wordsOf({ tool, params, grants, why }: Asked): string {
  const may = grants.map((grant) => `- ${visible(grant)}`).join("\n");
  const [first = ""] = params;
  return [
    `Allow the tool ${tool} to run?`,
    ...(why === "" ? [] : [`Why you are asked: ${visible(why)}.`]),
    ...(may === "" ? [] : [`What it may do:\n${may}`]),
    params.length === 1
      ? `It is called with:\n${shown(first, LONGEST_PARAMS)}`
      : `It is called ${params.length} times, and your answer is for all of them:\n${list(params)}`,
  ].join("\n\n");
}

/** Each has its share of the room: a long one must not hide another. */
function list(all: readonly string[]): string {
  const longest = Math.max(SHORTEST_SHARE, Math.floor(LONGEST_PARAMS / all.length));
  return all.map((params, at) => `${at + 1}. ${shown(params, longest)}`).join("\n");
}

/** Indented where it is short: what nests deeply would grow with the square of its depth. */
function shown(params: string, longest: number): string {
  const isShort = params.length <= longest;
  const text = visibleJson(isShort ? JSON.stringify(JSON.parse(params), undefined, 2) : params);
  return text.length <= longest
    ? text
    : `${text.slice(0, longest)}\n… (${text.length - longest} more characters)`;
}
