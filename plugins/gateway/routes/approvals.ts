/** What waits for the user's decision, and what the user decided for good. */
import {
  type Agent,
  type Approvals,
  Fault,
  type Identities,
  type TurnInput,
  type User,
} from "../../../kernel/plugin.ts";
import { ApprovalDecision, Gate } from "../../../kernel/vocabulary/turn.ts";
import { PairingGate } from "../../../kernel/vocabulary/user.ts";
import type { Declared } from "../../../kernel/vocabulary/wire/form.ts";
import { Type } from "../../../kernel/vocabulary/wire/type.ts";
import { Accepted } from "../api/schemas.ts";
import { assertTool } from "../auth/tokens/scope.ts";
import { type Route, route } from "../route.ts";
import { accepted } from "./chat.ts";

export interface ApprovalParts {
  readonly agent: Agent;
  readonly approvals: Approvals;
  readonly identities: Identities;
  /** Told before a turn begins, so that no event of it is missed. */
  follow(user: string): void;
}

const Decision = Type.Enum([...ApprovalDecision.enum, "done"]);
type Decision = Declared<typeof Decision>;

export function approvalRoutes({ agent, approvals, identities, follow }: ApprovalParts): readonly Route[] {
  /** Webhook identities cannot sign in, so an operator answers for them. */
  const pendingFor = async (user: User): Promise<readonly Gate[]> => {
    const own = approvals.pending(user.id);
    return user.role === "operator"
      ? (await Promise.all([own, approvals.pendingOfIdentities()])).flat()
      : await own;
  };
  return [
    route({
      method: "get",
      path: "/api/approvals",
      tag: "approvals",
      summary:
        "List the gates waiting for you, and the tools you always allow or deny; for an operator, the gates of webhook identities too",
      answer: Type.Object({
        pending: Type.Array(Type.Union([...Gate.anyOf, PairingGate])),
        remembered: Type.Record(Type.String(), Type.Enum(["allow", "deny"])),
      }),
      async handle({ user }) {
        const [gates, pairings, remembered] = await Promise.all([
          pendingFor(user),
          user.role === "operator" ? identities.pending() : [],
          approvals.remembered(user.id),
        ]);
        return { pending: [...gates, ...pairings], remembered };
      },
    }),
    route({
      method: "post",
      path: "/api/approvals/{gate}",
      tag: "approvals",
      summary:
        "Answer a gate: `once`, `always` or `deny` for an approval, `done` or `deny` where a credential was missing",
      body: Type.Object({ decision: Decision }),
      status: 202,
      answer: Accepted,
      scoped: true,
      refusals: {
        403: "The token may not use the tool or the model, or has a scope and cannot answer `always`",
        404: "There is no such gate",
      },
      async handle({ user, params, body }) {
        const gate = (await pendingFor(user)).find(({ id }) => id === params["gate"]);
        const pairings = !gate && user.role === "operator" ? await identities.pending() : [];
        if (pairings.some(({ id }) => id === params["gate"]))
          throw new Fault(
            "invalid",
            "decision_does_not_fit",
            "A pairing gate is answered with POST /api/identities/pair, or /api/identities/deny.",
            { param: "gate" },
          );
        if (!gate)
          throw new Fault(
            "missing",
            "gate_not_found",
            "There is no such gate; it may already have been answered.",
            {
              param: "gate",
            },
          );
        const input = inputOf(gate, body.decision);
        if (body.decision !== "deny") assertTool(user, gate.call.name, "allow it");
        const owner = gate.user ?? user.id;
        if (owner === user.id) follow(user.id);
        return accepted(
          await agent.run({
            user: owner,
            channel: "gateway",
            thread: gate.thread,
            input,
            ...(user.scope && { scope: user.scope }),
          }),
        );
      },
    }),
    route({
      method: "delete",
      path: "/api/approvals/remembered/{tool}",
      tag: "approvals",
      summary: "Forget your decision on a tool, so that you are asked again",
      status: 204,
      refusals: { 404: "Nothing is remembered for this tool" },
      async handle({ user, params }) {
        const tool = params["tool"] ?? "";
        if (!(await approvals.revoke(user.id, tool)))
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
    `"${decision}" is not a valid answer to a gate of type ${gate.type}.`,
    {
      param: "decision",
    },
  );
}
