/** How the service is doing: for people as JSON, for Prometheus as its text. */
import type { Kernel, Metrics, Node, Services, StoreHealth, Tools } from "../../../../kernel/plugin.ts";
import { Status } from "../../api/schemas.ts";
import { type Route, route } from "../../route.ts";

export interface StatusParts {
  readonly kernel: Kernel;
  readonly agent: Services["agent"];
  readonly jobs: Services["jobs"];
  readonly tools: Tools | undefined;
  readonly metrics: Metrics;
  readonly node: Node;
  readonly storeHealth: StoreHealth | undefined;
  usersOnline(): number;
}

export function statusRoutes(parts: StatusParts): readonly Route[] {
  const { kernel, agent, jobs, tools, metrics, node, storeHealth, usersOnline } = parts;
  return [
    route({
      method: "get",
      path: "/api/status",
      tag: "status",
      summary: "Get the version, channels, model, tools, nodes, store and current load",
      answer: Status,
      handle: async ({ user }) => ({
        version: kernel.version,
        uptimeSecs: Math.floor((Date.now() - kernel.startedAt.getTime()) / 1000),
        channels: kernel
          .plugins()
          .filter(({ kind }) => kind === "channel")
          // A detail may be an address or a path of the machine, which concerns whoever runs it.
          .map(({ name, on, detail }) => ({ name, on, detail: user.role === "operator" ? detail : "" })),
        model: agent.model(),
        tools: ((await tools?.list()) ?? []).map(({ name }) => name),
        usersOnline: usersOnline(),
        jobs: await jobs.counts(),
        nodes: await node.list(),
        store: (user.role === "operator" && (await storeHealth?.describe())) || null,
      }),
    }),
    route({
      method: "get",
      path: "/metrics",
      tag: "status",
      summary: "Get metrics for Prometheus",
      audience: "operator",
      answer: "text/plain",
      handle({ context }) {
        context.type = metrics.contentType;
        return metrics.render();
      },
    }),
  ];
}
