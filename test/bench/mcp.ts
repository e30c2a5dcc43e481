/** A call of a sandboxed tool through `/mcp`, beside the same call by the service behind it; all in one process. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import hostPlugin from "../../host/plugin.ts";
import type { AnyPlugin } from "../../kernel/plugin.ts";
import gatewayPlugin from "../../plugins/gateway/plugin.ts";
import mcpPlugin from "../../plugins/mcp/plugin.ts";
import storePlugin from "../../plugins/store/plugin.ts";
import { agentPlugins } from "../support/services/agent-plugins.ts";
import { bootBare } from "../support/services/bare-kernel.ts";
import { fixture } from "../support/tools/components.ts";
import { type Bench, compare, type Goal, interleave, median, single, within } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";
import { installAs, openHost } from "./support/tool-host.ts";

const ROUNDS = 200;
const WARM_UP = 50;
const TOKEN = "the-operator-of-the-bench";
const PARAMS = { text: "x".repeat(100) };
const PLUGINS = [
  storePlugin,
  hostPlugin,
  ...agentPlugins,
  gatewayPlugin,
  mcpPlugin,
] as readonly unknown[] as readonly AnyPlugin[];

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";
/** One for each: a tool that has just been called is made clean, and the next call of it would wait for that. */
const TOOLS = { direct: "echo-1", [MODERN]: "echo-2", [LEGACY]: "echo-3" } as const;
const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

async function openService(home: string) {
  const host = await openHost(home);
  await installAs(host, Object.values(TOOLS), await fixture("measured.wat"));
  await host.close();
  return bootBare(PLUGINS, home, {
    GATEWAY_PORT: "0",
    GATEWAY_AUTH_TOKEN: TOKEN,
    MODEL_PROVIDER: "builtin",
    TOOLS_SHIPPED: "false",
    // The limit of requests that write depends on this one.
    CHAT_RATE_LIMIT: "1000000",
  });
}

/** One connection that stays, and nothing of a client's own work. */
function connectTo(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  return {
    async send(method: "GET" | "POST", path: string, body?: object, more: Record<string, string> = {}) {
      const sent = request(url + path, { method, agent, headers: { ...headers, ...more } });
      sent.end(body && JSON.stringify(body));
      const [answer] = (await once(sent, "response")) as [IncomingMessage];
      const said = await text(answer);
      if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}: ${said}`);
      return { said, headers: answer.headers };
    },
    close: () => agent.destroy(),
  };
}

export const bench: Bench = {
  name: "mcp",
  about: "a call of a tool through /mcp, beside the same call by the service `tools` in the same process",
  run: (progress) =>
    inFolder(async (home) => {
      const service = await openService(home);
      const { url } = service.service("web");
      const client = connectTo(url);
      const tools = service.service("tools");
      const asked = (params: object) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
      const modern = {
        "mcp-protocol-version": MODERN,
        "mcp-method": "tools/call",
        "mcp-name": TOOLS[MODERN],
      };
      const clientInfo = { name: "bench", version: "1.0.0" };
      const opened = await client.send("POST", "/mcp", {
        jsonrpc: "2.0",
        id: 1,
        method: "initialize",
        params: { protocolVersion: LEGACY, capabilities: {}, clientInfo },
      });
      const session = {
        "mcp-protocol-version": LEGACY,
        "mcp-session-id": String(opened.headers["mcp-session-id"]),
      };
      const settled = service.service("store").keyed<number>("bench");
      const direct = "by the service";
      const wall = () => performance.now();
      // What other programs on the machine take does not count here; the client's part does.
      const cpu = () => {
        const { user, system } = process.threadCpuUsage();
        return (user + system) / 1000;
      };
      const contestantsBy = (clock: () => number, calls: number) => {
        const timed = (work: () => Promise<unknown>) => async () => {
          // The receipt of the call before is flushed to the disk first: nobody waits for it but whoever comes next.
          await settled.set("round", 1);
          const began = clock();
          for (let call = 0; call < calls; call++) await work();
          return (clock() - began) / calls;
        };
        return {
          [direct]: timed(() =>
            tools.call({ id: "1", name: TOOLS.direct, params: JSON.stringify(PARAMS) }, { user: "operator" }),
          ),
          [`/mcp, ${MODERN}`]: timed(() =>
            client.send(
              "POST",
              "/mcp",
              asked({ name: TOOLS[MODERN], arguments: PARAMS, _meta: META }),
              modern,
            ),
          ),
          [`/mcp, ${LEGACY}`]: timed(() =>
            client.send("POST", "/mcp", asked({ name: TOOLS[LEGACY], arguments: PARAMS }), session),
          ),
          "GET /health": timed(() => client.send("GET", "/health")),
        };
      };
      try {
        await interleave(contestantsBy(wall, 1), WARM_UP, progress);
        const figures = async (what: string, clock: () => number, calls: number, goal?: Goal) => {
          const samples = await interleave(contestantsBy(clock, calls), ROUNDS / calls, progress);
          const base = median(samples[direct] ?? []);
          const added = [MODERN, LEGACY].map((revision) => {
            const value = median(samples[`/mcp, ${revision}`] ?? []) - base;
            return single(`${what}: added by /mcp, ${revision}`, value, "ms", goal);
          });
          return [...compare(samples, { unit: "ms", what }), ...added];
        };
        return [
          ...(await figures("time", wall, 1, within(2, "ms"))),
          // That clock moves in steps: many calls at a time.
          ...(await figures("CPU of the main thread", cpu, 25)),
        ];
      } finally {
        client.close();
        await service.stop();
      }
    }),
};
