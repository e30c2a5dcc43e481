/** The version, channels, model, tools, nodes, store and current load. */
import { type Route, routesOf } from "../../kernel/kit/http.ts";
import { Type } from "../../kernel/kit/schema.ts";
import { ModelName } from "../../kernel/kit/turns.ts";
import type { Use } from "../../kernel/plugin.ts";

const route = routesOf("status");

const Status = Type.Object({
  version: Type.String(),
  uptimeSecs: Type.Integer(),
  channels: Type.Array(Type.Object({ name: Type.String(), on: Type.Boolean(), detail: Type.String() })),
  model: ModelName,
  isModelMissing: Type.Boolean({
    description: "True while nobody has set up a model, so that the built-in one answers",
  }),
  tools: Type.Array(Type.String()),
  usersOnline: Type.Integer(),
  jobs: Type.Object({ queued: Type.Integer(), running: Type.Integer() }),
  nodes: Type.Array(
    Type.Object({
      id: Type.String(),
      version: Type.String(),
      startedAt: Type.String(),
      lastSeenAt: Type.String(),
    }),
  ),
  store: Type.Union([Type.Object({ detail: Type.String(), isFilling: Type.Boolean() }), Type.Null()], {
    description: "How large the store is, how fast it grows and how much disk is left: for the operator",
  }),
});

export type StatusParts = Use<
  "kernel" | "store" | "agent" | "jobs" | "web",
  "tools" | "modelCheck" | "storeHealth"
>;

export function statusRoutes(parts: StatusParts): readonly Route[] {
  const { kernel, agent, jobs, tools, modelCheck, store, storeHealth, web } = parts;
  return [
    route("GET /api/status", {
      summary: "Get the version, channels, model, tools, nodes, store and current load",
      answer: Status,
      scoped: true,
      handle: async ({ user }) => ({
        version: kernel.version,
        uptimeSecs: Math.floor((Date.now() - kernel.startedAt.getTime()) / 1000),
        channels: kernel
          .plugins()
          .filter(({ kind }) => kind === "channel")
          // A detail may be an address or a path of the machine, so only the operator sees it.
          .map(({ name, on, detail }) => ({ name, on, detail: user.role === "operator" ? detail : "" })),
        model: agent.model(),
        isModelMissing: modelCheck?.isMissing() ?? false,
        tools: ((await tools?.list()) ?? []).map(({ name }) => name),
        usersOnline: web.usersOf("chat"),
        jobs: await jobs.counts(),
        nodes: await store.node.list(),
        store: (user.role === "operator" && (await storeHealth?.describe())) || null,
      }),
    }),
  ];
}
