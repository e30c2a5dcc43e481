/** What waits for the user's word, and what the user's word was for good. */
import {
  type Agent,
  type ApprovalDecision,
  type Approvals,
  Fault,
  type Gate,
  type TurnInput,
} from "../../../kernel/plugin.ts";
import { list, object, oneOf, ref } from "../api/schemas.ts";
import { gateJson } from "../api/wire.ts";
import { type Route, route } from "../route.ts";
import { ACCEPTED, acceptedJson } from "./chat.ts";

export interface ApprovalParts {
  readonly agent: Agent;
  readonly approvals: Approvals;
  /** Told before a turn begins, so that no event of it is missed. */
  follow(user: string): void;
}

type Decision = ApprovalDecision | "done";

export function approvalRoutes({ agent, approvals, follow }: ApprovalParts): readonly Route[] {
  return [
    route({
      method: "get",
      path: "/api/approvals",
      tag: "approvals",
      summary: "Gates that wait for you, and the tools you always allowed or denied",
      answer: object({
        pending: list(ref("Gate")),
        remembered: { type: "object", additionalProperties: oneOf("allow", "deny") },
      }),
      handle: ({ user }) => ({
        pending: approvals.pending(user.id).map(gateJson),
        remembered: approvals.remembered(user.id),
      }),
    }),
    route<{ decision: Decision }>({
      method: "post",
      path: "/api/approvals/{gate}",
      tag: "approvals",
      summary:
        "Answer a gate: `once`, `always` or `deny` for an approval, `done` or `deny` where a credential was missing",
      body: {
        type: "object",
        required: ["decision"],
        properties: { decision: { type: "string", enum: ["once", "always", "deny", "done"] } },
      },
      status: 202,
      answer: ACCEPTED,
      refusals: { 404: "There is no such gate" },
      handle({ user, params, body }) {
        const gate = approvals.pending(user.id).find(({ id }) => id === params["gate"]);
        if (!gate)
          throw new Fault(
            "missing",
            "gate_not_found",
            "There is no such gate; perhaps it was answered already.",
            {
              param: "gate",
            },
          );
        const input = inputOf(gate, body.decision);
        follow(user.id);
        return acceptedJson(agent.run({ user: user.id, channel: "gateway", thread: gate.thread, input }));
      },
    }),
    route({
      method: "delete",
      path: "/api/approvals/remembered/{tool}",
      tag: "approvals",
      summary: "Forget what was decided for a tool, so that you are asked again",
      status: 204,
      refusals: { 404: "Nothing is remembered for this tool" },
      handle({ user, params }) {
        const tool = params["tool"] ?? "";
        if (!approvals.revoke(user.id, tool))
          throw new Fault("missing", "nothing_remembered", `Nothing is remembered for ${tool}.`, {
            param: "tool",
          });
      },
    }),
  ];
}

function inputOf(gate: Gate, decision: Decision): TurnInput {
  if (gate.type === "approval" && decision !== "done") return { type: "approval", gate: gate.id, decision };
  if (gate.type === "authentication" && (decision === "done" || decision === "deny"))
    return { type: "authentication", gate: gate.id, decision };
  throw new Fault(
    "invalid",
    "decision_does_not_fit",
    `"${decision}" is no answer to a gate of type ${gate.type}.`,
    {
      param: "decision",
    },
  );
}
