/** Gates that wait for the user's decision, and decisions that are remembered. */

import { assertTool, invalidFault, missingFault, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { type Declared, Type } from "../../../kernel/kit/schema.ts";
import { fingerprintOf } from "../../../kernel/kit/tools.ts";
import { Gate } from "../../../kernel/kit/turns.ts";
import type { Fault, Services, TurnInput, User } from "../../../kernel/plugin.ts";
import { accepted } from "./chat.ts";
import { Accepted, Answer, PairingGate } from "./wire.ts";

const route = routesOf("approvals");

type Answered = Declared<typeof Answer>;

export interface ApprovalParts extends Pick<Services, "agent" | "approvals" | "identities"> {
  readonly tools?: Services["tools"] | undefined;
  /** Called before a turn starts, so that no event of it is missed. */
  follow(user: string): void;
}

export function approvalRoutes({
  agent,
  approvals,
  identities,
  tools,
  follow,
}: ApprovalParts): readonly Route[] {
  /** Webhook identities cannot sign in, so an operator answers for them. */
  const pendingFor = async (user: User): Promise<readonly Gate[]> => {
    const own = approvals.pending(user.id);
    return user.role === "operator"
      ? (await Promise.all([own, approvals.pendingOfIdentities()])).flat()
      : await own;
  };
  return [
    route("GET /api/approvals", {
      summary:
        "List the gates waiting for you, and the tools you always allow or deny; for an operator, the gates of webhook identities too",
      answer: Type.Object({
        pending: Type.Array(Type.Union([...Gate.anyOf, PairingGate])),
        remembered: Type.Record(Type.String(), Type.Enum(["allow", "deny"])),
      }),
      scoped: true,
      async handle({ user }) {
        const [gates, pairings, remembered] = await Promise.all([
          pendingFor(user),
          user.role === "operator" ? identities.pending() : [],
          approvals.remembered(user.id),
        ]);
        return { pending: [...gates, ...pairings], remembered };
      },
    }),
    route("POST /api/approvals/{gate}", {
      summary:
        "Answer a gate: `once`, `always`, `destination` (this call, and calls of this tool to this destination from now on), `rule` (this call, and what the rule that is offered allows from now on) or `deny` for an approval, `done` or `deny` where a credential was missing, `replies` to questions, or `deny` to decline them all",
      body: Answer,
      status: 202,
      answer: Accepted,
      scoped: true,
      refusals: {
        403: "The token may not use the tool or the model, or has a scope and cannot answer `always`, `destination` or `rule`",
        404: "There is no such gate",
      },
      async handle({ user, params, body }) {
        const gate = (await pendingFor(user)).find(({ id }) => id === params.gate);
        const pairings = !gate && user.role === "operator" ? await identities.pending() : [];
        if (pairings.some(({ id }) => id === params.gate))
          throw invalidFault(
            "decision_does_not_fit",
            "A pairing gate is answered with POST /api/identities/pair, or /api/identities/deny.",
            "gate",
          );
        if (!gate)
          throw missingFault(
            "gate_not_found",
            "There is no such gate; it may already have been answered.",
            "gate",
          );
        const input = inputOf(gate, body);
        if (body.decision !== "deny") assertTool(user, gate.call.name, "allow it");
        const owner = gate.user ?? user.id;
        if (owner === user.id) follow(user.id);
        const work = { steers: owner === user.id };
        const turn = { user: owner, channel: "gateway", thread: gate.thread, input, work, scope: user.scope };
        return accepted(await agent.run(turn));
      },
    }),
    route("PUT /api/approvals/remembered/{tool}", {
      summary:
        "Decide beforehand: always allow or deny a tool for yourself. What the operator denies stays denied",
      body: Type.Object({
        decision: Type.Enum(["allow", "deny"]),
        fingerprint: Type.Optional(
          Type.String({ description: "The fingerprint of the tool you saw: another of its name is refused" }),
        ),
      }),
      status: 204,
      refusals: { 404: "There is no such tool" },
      async handle({ user, params: { tool: name }, body: { decision, fingerprint } }) {
        const tool = (await tools?.list())?.find((each) => each.name === name);
        if (!tool) throw missingFault("tool_not_found", `There is no tool ${name}.`, "tool");
        const current = fingerprintOf(tool);
        if (fingerprint !== undefined && fingerprint !== current)
          throw invalidFault("tool_changed", `${name} has changed since. Look at it again.`, "fingerprint");
        await approvals.remember(user.id, name, decision, current);
      },
    }),
    route("DELETE /api/approvals/remembered/{tool}", {
      summary: "Forget your decision on a tool, so that you are asked again",
      status: 204,
      refusals: { 404: "Nothing is remembered for this tool" },
      async handle({ user, params: { tool } }) {
        if (!(await approvals.revoke(user.id, tool)))
          throw missingFault("nothing_remembered", `Nothing is remembered for ${tool}.`, "tool");
      },
    }),
  ];
}

function inputOf(gate: Gate, { decision, limit, replies, lookedMs }: Answered): TurnInput {
  const { id } = gate;
  if (replies !== undefined) {
    if (gate.type === "question" && decision === undefined) return { type: "question", gate: id, replies };
    throw unfit(gate, "replies", "Replies are");
  }
  if (gate.type === "question" && decision === "deny")
    return {
      type: "question",
      gate: id,
      replies: gate.questions.map(({ key }) => ({ key, action: "decline" })),
    };
  if (gate.type === "approval" && decision !== undefined && decision !== "done")
    return {
      ...{ type: "approval", gate: id, decision },
      ...(limit !== undefined && { limit }),
      ...(lookedMs !== undefined && { lookedMs }),
    };
  if (gate.type === "authentication" && (decision === "done" || decision === "deny"))
    return { type: "authentication", gate: id, decision };
  throw unfit(gate, "decision", decision === undefined ? "No decision is" : `"${decision}" is`);
}

function unfit({ type }: Gate, param: string, what: string): Fault {
  const message = `${what} not a valid answer to a gate of type ${type}.`;
  return invalidFault("decision_does_not_fit", message, param);
}
