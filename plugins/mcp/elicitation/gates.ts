/** Asks through the client what a turn of the agent waits for, and reads the answer as the input that continues the turn. */
import {
  type InputRequest,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { decisionsAt, sayRule, whyHeld } from "../../../kernel/kit/display.ts";
import type { Gate, TurnInput } from "../../../kernel/plugin.ts";
import type { Caller } from "../../agent/services.ts";
import type { Abilities } from "../protocol/client.ts";
import { askApproval, readApproval } from "./approval.ts";
import type { PageLinks } from "./page-links.ts";
import { askQuestions, canAsk, readReplies } from "./questions.ts";

const SIGN_IN = "sign_in";

/** Returns undefined if the client cannot ask it. */
export function askGate(
  gate: Gate,
  able: Abilities,
  caller: Caller,
  links: PageLinks,
): Record<string, InputRequest> | undefined {
  switch (gate.type) {
    case "approval": {
      if (!able.form) return undefined;
      const { call, grants, others = [], offer } = gate;
      const params = [call, ...others].map((one) => one.params);
      const rule = offer && sayRule(offer);
      const asked = {
        tool: call.name,
        params,
        grants,
        decisions: decisionsAt(gate),
        why: whyHeld(gate),
        rule,
      };
      return askApproval(asked, caller);
    }
    case "authentication": {
      const url = links.tool(gate.call.name);
      return able.url && url !== undefined
        ? { [SIGN_IN]: inputRequired.elicitUrl({ message: gate.message, url }) }
        : undefined;
    }
    case "question":
      return canAsk(able, gate.questions) ? askQuestions(gate.server, gate.questions) : undefined;
    case "external_tool":
      return undefined;
  }
}

/** Returns undefined if the request brings no answer. */
export function readAnswer(gate: Gate, context: ServerContext): TurnInput | undefined {
  switch (gate.type) {
    case "approval": {
      const decision = readApproval(context);
      return decision && { type: "approval", gate: gate.id, decision };
    }
    case "authentication": {
      const answer = inputResponse(context.mcpReq.inputResponses, SIGN_IN);
      if (answer.kind !== "elicit") return undefined;
      const decision = answer.action === "accept" ? "done" : "deny";
      return { type: "authentication", gate: gate.id, decision };
    }
    case "question": {
      const keys = gate.questions.map(({ key }) => key);
      return { type: "question", gate: gate.id, replies: [...readReplies(context, keys)] };
    }
    case "external_tool":
      return undefined;
  }
}
