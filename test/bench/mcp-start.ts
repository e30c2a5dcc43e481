/** A start with ten MCP servers configured, two of them dead, beside one with none. */
import { join } from "node:path";
import { openServiceHost } from "../../host/service-host.ts";
import { createLog } from "../../kernel/log/log.ts";
import { createMask } from "../../kernel/mask/mask.ts";
import { listenMcp, type McpHttp } from "../support/servers/mcp-listening.ts";
import { ECHO, WRITE } from "../support/servers/scripted-mcp.ts";
import { openHomeStore } from "../support/tools/home-store.ts";
import { type Bench, compare, type Goal, interleave } from "./support/bench.ts";
import { inFolder, serve, stopServing } from "./support/programs.ts";

const ROUNDS = 9;
const SERVERS = 10;
const DEAD = 2;
const MORE_MS = 100;

async function untilReady(home: string, env: Readonly<Record<string, string>>): Promise<number> {
  const began = performance.now();
  const service = await serve(home, { TOOLS_SHIPPED: "false", ...env });
  const ready = performance.now() - began;
  await stopServing(service);
  return ready;
}

async function configure(home: string, servers: readonly McpHttp[]): Promise<void> {
  const store = openHomeStore(home);
  const mask = createMask();
  const host = await openServiceHost({
    config: {
      privateHosts: new Set(servers.map((server) => server.host)),
      shipped: false,
      workers: 1,
      variable: () => undefined,
    },
    home,
    store,
    mask,
    log: createLog("silent", mask, { pretty: false, write: () => {} }),
  });
  for (const [at, { url }] of servers.entries())
    await host.foreign.servers.add({ name: `server-${at}`, url }, { user: "operator", agree: true });
  await host.close();
  await store.close();
}

export const bench: Bench = {
  name: "mcp-start",
  about: "serve until ready, with ten MCP servers configured, two of them dead",
  run: (progress) =>
    inFolder(async (folder) => {
      const servers = await Promise.all(Array.from({ length: SERVERS }, () => listenMcp([ECHO, WRITE])));
      const [none, ten] = [join(folder, "none"), join(folder, "ten")];
      const env = { TOOLS_PRIVATE_HOSTS: servers.map(({ host }) => host).join(",") };
      try {
        await untilReady(none, env);
        await untilReady(ten, env);
        await configure(ten, servers);
        await Promise.all(servers.slice(0, DEAD).map((server) => server.close()));
        const samples = await interleave(
          { "no servers": () => untilReady(none, env), "ten servers": () => untilReady(ten, env) },
          ROUNDS,
          progress,
        );
        const base =
          samples["no servers"]?.toSorted((one, other) => one - other)[Math.floor(ROUNDS / 2)] ?? 0;
        const goal: Goal = {
          words: `≤ ${MORE_MS} ms more`,
          met: (_ratio, median) => median - base <= MORE_MS,
        };
        return compare(samples, { unit: "ms", goals: { "ten servers": goal } });
      } finally {
        await Promise.all(servers.map((server) => server.close()));
      }
    }),
};
