/** May this call be made: the question, and how the answer is read. */
import {
  type InputRequest,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { visible, visibleJson } from "../../../kernel/mask/visible.ts";
import type { ApprovalDecision, Caller } from "../../../kernel/plugin.ts";

const KEY = "approval";
const LONGEST_PARAMS = 4000;

export interface Asked {
  readonly tool: string;
  /** A JSON text. */
  readonly params: string;
  /** In words, what the tool may do. */
  readonly grants: readonly string[];
}

/** A token with a scope cannot allow a tool for good: that would reach beyond the token. */
export function askApproval(asked: Asked, { scope }: Caller): Record<string, InputRequest> {
  const decisions = scope === undefined ? ["once", "always", "deny"] : ["once", "deny"];
  return {
    [KEY]: inputRequired.elicit({
      message: wordsOf(asked),
      requestedSchema: {
        type: "object",
        properties: {
          decision: {
            type: "string",
            title: "Decision",
            description:
              scope === undefined
                ? "once: this call only. always: this and later calls of the tool. deny: do not run it."
                : "once: this call only. deny: do not run it.",
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
  return decision === "once" || decision === "always" ? decision : "deny";
}

function wordsOf({ tool, params, grants }: Asked): string {
  const may = grants.map((grant) => `- ${visible(grant)}`).join("\n");
  return [
    `Allow the tool ${tool} to run?`,
    ...(may === "" ? [] : [`What it may do:\n${may}`]),
    `It is called with:\n${shown(params)}`,
  ].join("\n\n");
}

/** Indented where it is short: what nests deeply would grow with the square of its depth. */
function shown(params: string): string {
  const isShort = params.length <= LONGEST_PARAMS;
  const text = visibleJson(isShort ? JSON.stringify(JSON.parse(params), undefined, 2) : params);
  return text.length <= LONGEST_PARAMS
    ? text
    : `${text.slice(0, LONGEST_PARAMS)}\n… (${text.length - LONGEST_PARAMS} more characters)`;
}
