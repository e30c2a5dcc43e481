/**
 * The tool host as a plugin: `tools` for the agent, `toolAdmin` for the page, `toolHost` for the `tool` commands. Starting costs next
 * to nothing: the compiler, the workers and the network come in with the first use.
 */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type McpServers, parsePrivateHosts, SILENT, type ToolAdmin, type Tools } from "../kernel/kit.ts";
import { type CallOutcome, definePlugin, reason, type Store, type ToolCall } from "../kernel/plugin.ts";
import { openToolTables } from "./catalog/storage/tables.ts";
import type { HostConfig, ToolHost } from "./tool-host.ts";

const NONE = "none installed";
const GETTING_READY = "getting the shipped tools ready";
// The other plugins start first: what is warmed up here is not needed before the first chat.
const WARM_UP_AFTER_MILLIS = 200;
// A list of tools needs no connection: servers of others come after everything of ours.
const REACH_AFTER_MILLIS = 2000;

declare module "../kernel/plugin.ts" {
  interface Services {
    tools: Tools;
    toolAdmin: ToolAdmin;
    mcpServers: McpServers;
  }
}

export default definePlugin({
  name: "tools",
  needs: ["kernel", "store"],
  wants: ["telemetry"],
  provides: ["tools", "toolAdmin", "mcpServers", "toolHost"],
  configure(env): HostConfig {
    const privateHosts = parsePrivateHosts(
      env.list("TOOLS_PRIVATE_HOSTS", "Private host:port,… that tools may reach, also over plain http"),
    );
    if (privateHosts === undefined) env.refuse("TOOLS_PRIVATE_HOSTS", "host:port, separated by commas");
    const workers = env.integer(
      "TOOLS_WORKERS",
      0,
      { min: 0, max: 64 },
      "Calls of one tool that compute at the same time; 0: one per core",
    );
    const processes = env.integer(
      "TOOLS_PROCESSES",
      8,
      { min: 1, max: 256 },
      "Tools that can be in use at the same time, each in a process",
    );
    const memoryMb = env.integer(
      "TOOLS_MEMORY_MB",
      0,
      { min: 0, max: 1_048_576 },
      "Memory that all tools together may use, in MiB; 0: half of the machine's",
    );
    const shipped = env.flag("TOOLS_SHIPPED", true, "Install the shipped tools on first start");
    const indexes = env.list(
      "TOOLS_INDEX",
      "Lists of tools that can be installed by name: https URLs, paths from the home, `shipped` for ours; default: shipped",
    );
    const npmRegistry = env.url("NPM_CONFIG_REGISTRY", undefined, "Where npm packages of tools come from");
    const path = env.text(
      "PATH",
      "/usr/local/bin:/usr/bin:/bin",
      "Where the commands of MCP servers are looked for",
    );
    const signingPassword = env.secret("COSIGN_PASSWORD", "Password of the key that tools are signed with");
    const dockerFolder = env.text(
      "DOCKER_CONFIG",
      undefined,
      "The folder of Docker's config.json, for sign-ins to registries",
    );
    return {
      privateHosts: privateHosts ?? new Set(),
      shipped,
      indexes: indexes.length > 0 ? indexes : undefined,
      npmRegistry,
      path,
      dockerFolder,
      signingPassword,
      workers: workers === 0 ? undefined : workers,
      processes,
      memoryBytes: memoryMb === 0 ? undefined : memoryMb * 2 ** 20,
      variable: (name) => env.secret(name, "A tool's credential"),
    };
  },
  async start({ config, use, home, log, onStop, check, announce }) {
    const { store, kernel } = use;
    let opened: Promise<ToolHost> | undefined;
    const stopping = new AbortController();
    const open = (): Promise<ToolHost> => {
      opened ??= import("./tool-host.ts").then(({ openToolHost }) =>
        openToolHost({
          config: { ...config, keepsSpare: kernel.serving, version: kernel.version },
          home,
          store,
          mask: kernel.mask,
          log,
        }),
      );
      // What stopped it from opening may be fixed while the service runs.
      opened.catch(() => {
        opened = undefined;
      });
      return opened;
    };
    onStop(async () => {
      stopping.abort();
      await (await opened?.catch(() => undefined))?.close();
    });
    check("tools", async () => {
      const { catalog, foreign } = await open();
      await catalog.list();
      // A server that others run must not make this one unready.
      return (await foreign.troubles()).join(" ");
    });

    const { metrics } = use.telemetry ?? SILENT;
    const inUse = async () => (await opened?.catch(() => undefined))?.inUse();
    metrics.gauge(
      "postern_tool_processes",
      "Processes of tools",
      async () => (await inUse())?.processes ?? 0,
    );
    metrics.gauge("postern_tool_memory_bytes", "Memory in them", async () => (await inUse())?.bytes ?? 0);

    // A new home has none until those that come with Postern are made ready.
    const announceNames = (names: readonly string[], none: string) =>
      announce(names.length === 0 ? none : names.join(", "));
    // Their names alone: reading what they are would take longer than the whole start.
    announceNames(await readNames(store, home), kernel.stays && config.shipped ? GETTING_READY : NONE);
    const announceTools = async (host: ToolHost, none: string) => {
      announceNames(
        (await host.catalog.list()).map(({ name }) => name),
        none,
      );
      for (const { name, reason: why } of await host.catalog.broken())
        log.warn(`tool ${name} is disabled: ${why}`);
    };
    const warmUp = async () => {
      const host = await open();
      await announceTools(host, config.shipped ? GETTING_READY : NONE);
      await host.code.sweep();
      try {
        await host.provideShipped((line) => log.info(line), stopping.signal);
      } finally {
        await announceTools(host, NONE);
      }
      await host.warmUp();
    };
    // Beside a running service it finds everything installed; warm processes and cleaning up are the service's.
    const prepare = kernel.serving
      ? warmUp
      : async () => (await open()).provideShipped((line) => log.info(line), stopping.signal);
    if (kernel.stays) {
      const timer = setTimeout(() => {
        prepare().catch((error) => {
          if (!stopping.signal.aborted)
            log.warn({ error }, `installing the shipped tools failed: ${reason(error)}`);
        });
      }, WARM_UP_AFTER_MILLIS);
      onStop(() => clearTimeout(timer));
      const reach = setTimeout(() => {
        open()
          .then(({ foreign }) => foreign.reachAll())
          .catch((error) => log.warn({ error }, `the MCP servers could not be reached: ${reason(error)}`));
      }, REACH_AFTER_MILLIS);
      onStop(() => clearTimeout(reach));
    }

    const outcomeOf = async (
      { name }: ToolCall,
      run: (host: ToolHost) => Promise<{ readonly outcome: CallOutcome }>,
    ): Promise<CallOutcome> => {
      try {
        return (await run(await open())).outcome;
      } catch (error) {
        log.error({ error, tool: name }, `a call of ${name} failed inside the tool host`);
        const message = `The tool host cannot run ${name}: ${kernel.mask.hide(reason(error))}`;
        return { status: "error", code: "unavailable", message };
      }
    };

    return {
      toolHost: { open, privateHosts: config.privateHosts, signingPassword: config.signingPassword },
      mcpServers: serversOf(async () => (await open()).foreign.servers),
      toolAdmin: adminOf(async () => (await open()).admin),
      tools: {
        async list() {
          return (await open()).list();
        },
        call: (call, options) => outcomeOf(call, (host) => host.call(call, options)),
        resume: (call, resume, replies, options) =>
          outcomeOf(call, (host) => host.resume(call, resume, replies, options)),
        refusal: async (call) => (await open()).refusal(call),
        checkJson: async (...args) => (await open()).checkJson(...args),
      },
    };
  },
  operations: {
    commands: [
      {
        name: "tool",
        about: "write, install, inspect, run and remove tools",
        load: async () => (await import("./commands/tool.ts")).register,
      },
      {
        name: "registry",
        about: "sign in to the registries that tools come from",
        load: async () => (await import("./commands/registry.ts")).register,
      },
      {
        name: "mcp",
        about: "manage the MCP servers of others whose tools the agent may use",
        load: async () => (await import("./commands/mcp/mcp.ts")).register,
      },
      {
        name: "trust",
        about: "say whose signature a tool needs, and make keys to sign with",
        load: async () => (await import("./commands/trust/trust.ts")).register,
      },
    ],
    names: {
      // Tools are folders in the home, or rows where nodes share a database.
      tool: async ({ home, rows }) => [
        ...foldersIn(join(home, "tools")).map((name) => ({ name })),
        ...(await rows<{ name: string }>("SELECT name FROM tools ORDER BY name")),
      ],
      server: ({ rows }) => rows("SELECT name FROM mcp_servers ORDER BY name"),
    },
    tables: async () => (await import("./owned-tables.ts")).TABLES,
    diagnose: async (context) => (await import("./diagnosis.ts")).diagnoseTools(context),
  },
});

async function readNames(store: Store, home: string): Promise<readonly string[]> {
  const sql = await openToolTables(store);
  if (sql.engine === "postgres") {
    const rows = await sql.all<{ readonly name: string }>("SELECT name FROM tools ORDER BY name");
    return rows.map(({ name }) => name);
  }
  return foldersIn(join(home, "tools"));
}

function foldersIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder).filter((name) => !name.startsWith(".")) : [];
}

/** The admin before the host is open: each call opens it. */
function adminOf(admin: () => Promise<Required<ToolAdmin>>): ToolAdmin {
  return {
    examine: async (...args) => (await admin()).examine(...args),
    install: async (...args) => (await admin()).install(...args),
    search: async (...args) => (await admin()).search(...args),
    find: async (...args) => (await admin()).find(...args),
    installFound: async (...args) => (await admin()).installFound(...args),
    remove: async (...args) => (await admin()).remove(...args),
    enable: async (...args) => (await admin()).enable(...args),
    limits: async (...args) => (await admin()).limits(...args),
    setup: async (...args) => (await admin()).setup(...args),
    setSecret: async (...args) => (await admin()).setSecret(...args),
    shareSecret: async (...args) => (await admin()).shareSecret(...args),
    beginSignIn: async (...args) => (await admin()).beginSignIn(...args),
    finishSignIn: async (...args) => (await admin()).finishSignIn(...args),
    receipts: async (...args) => (await admin()).receipts(...args),
    receipt: async (...args) => (await admin()).receipt(...args),
    usage: async (...args) => (await admin()).usage(...args),
  };
}

function serversOf(servers: () => Promise<McpServers>): McpServers {
  return {
    list: async (...args) => (await servers()).list(...args),
    find: async (...args) => (await servers()).find(...args),
    add: async (...args) => (await servers()).add(...args),
    remove: async (...args) => (await servers()).remove(...args),
    file: async (...args) => (await servers()).file(...args),
    edit: async (...args) => (await servers()).edit(...args),
    agree: async (...args) => (await servers()).agree(...args),
    test: async (...args) => (await servers()).test(...args),
    beginSignIn: async (...args) => (await servers()).beginSignIn(...args),
    setToken: async (...args) => (await servers()).setToken(...args),
    signOut: async (...args) => (await servers()).signOut(...args),
  };
}
