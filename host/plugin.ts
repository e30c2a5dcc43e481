/** The tool host as a plugin. The compiler, the workers and the network come in with the first use. */

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SILENT } from "../kernel/kit/log.ts";
import { parsePrivateHosts } from "../kernel/kit/outbound.ts";
import { warn } from "../kernel/kit/terminal.ts";
import { definePlugin, type Env, reason, type StoreLook, type ToolCall } from "../kernel/plugin.ts";
import type { Store } from "../plugins/store/services.ts";
import { openToolTables } from "./catalog/storage/tables.ts";
import type { ServiceHost, ServiceHostConfig } from "./service-host.ts";
import type { CallOutcome, McpServers } from "./services.ts";

const NONE = "none installed";
const GETTING_READY = "getting the shipped tools ready";
// The other plugins start first: what is warmed up here is not needed before the first chat.
const WARM_UP_AFTER_MS = 200;
// A list of tools needs no connection: servers of others come after everything of ours.
const REACH_AFTER_MS = 2000;

/** What may be changed while it runs. */
function readPrivateHosts(env: Env): ReadonlySet<string> {
  const hosts = parsePrivateHosts(
    env.list("TOOLS_PRIVATE_HOSTS", "Private host:port,… that tools may reach, also over plain http"),
  );
  if (hosts === undefined) env.refuse("TOOLS_PRIVATE_HOSTS", "host:port, separated by commas");
  return hosts ?? new Set();
}

export default definePlugin({
  name: "tools",
  needs: ["kernel", "store", "storage", "settings"],
  wants: ["telemetry", "workspace"],
  provides: ["tools", "toolAdmin", "mcpServers", "toolHost", "packages"],
  configure(env): ServiceHostConfig {
    const privateHosts = readPrivateHosts(env);
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
    const serverIndexes = env.list(
      "MCP_INDEX",
      "Further lists of MCP servers that can be added by name: https URLs, or paths from the home; never taken from the working folder's .env",
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
      privateHosts,
      shipped,
      indexes: indexes.length > 0 ? indexes : undefined,
      serverIndexes,
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
  async start({ config: given, use, home, log, onStop, check, announce }) {
    const { store, kernel } = use;
    const live = await use.settings.live("tools", readPrivateHosts);
    // One set for everyone who judges an address, and its hosts change in place.
    const privateHosts = new Set(live.last());
    const config = { ...given, privateHosts };
    onStop(
      live.onChange((hosts) => {
        privateHosts.clear();
        for (const host of hosts) privateHosts.add(host);
      }),
    );
    let opened: Promise<ServiceHost> | undefined;
    const stopping = new AbortController();
    const open = (): Promise<ServiceHost> => {
      opened ??= import("./service-host.ts").then(({ openServiceHost }) =>
        openServiceHost({
          config: { ...config, keepsSpare: kernel.serving, version: kernel.version },
          home,
          store,
          storage: use.storage,
          workspace: use.workspace,
          mask: kernel.mask,
          log,
        }),
      );
      // The reason that it could not be opened may be fixed while the service runs.
      opened.catch(() => {
        opened = undefined;
      });
      return opened;
    };
    onStop(async () => {
      stopping.abort();
      await (await opened?.catch(() => undefined))?.close();
    });
    // A command says on its standard error what it waits for; the service writes it to the log.
    const progress = (line: string) => (kernel.stays ? log.info(line) : warn(`${line}\n`));
    let provided: Promise<string> | undefined;
    /** Which of the shipped tools is installed now, and the turns that wait for them. */
    let preparing: readonly [at: number, of: number] | undefined;
    const waiting = new Set<() => void>();
    const onEach = (at: number, of: number) => {
      preparing = [at, of];
      for (const tell of waiting) tell();
    };
    /** Resolves to why they could not be installed, and to an empty text where they were. */
    const provide = (): Promise<string> => {
      provided ??= open()
        .then((host) => host.provideShipped(progress, stopping.signal, undefined, onEach))
        .then(() => "")
        .catch((error) => {
          const why = `installing the shipped tools failed: ${reason(error)}`;
          if (!stopping.signal.aborted) log.warn({ error }, why);
          return why;
        });
      return provided;
    };
    let isComplete = false;
    const lacksShipped = async (): Promise<boolean> => {
      isComplete ||= !(await (await open()).lacksShipped());
      return !isComplete;
    };
    check("tools", async () => {
      const { catalog, foreign } = await open();
      await catalog.list();
      const trouble =
        kernel.stays && (await lacksShipped()) ? await Promise.race([provide(), GETTING_READY]) : "";
      if (trouble === GETTING_READY) throw new Error(GETTING_READY);
      // A server that others run must not make this one unready.
      return [trouble, ...(await foreign.troubles())].filter((line) => line !== "").join(" ");
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
    const announceTools = async (host: ServiceHost, none: string) => {
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
      const why = await provide();
      await announceTools(host, NONE);
      if (why === "") await host.warmUp();
    };
    // Beside a running service it finds everything installed; warm processes and cleaning up are the service's.
    const prepare = kernel.serving ? warmUp : provide;
    if (kernel.stays) {
      const timer = setInterval(() => {
        if (!kernel.isStarted) return;
        clearInterval(timer);
        prepare().catch((error) => {
          if (!stopping.signal.aborted) log.warn({ error }, `the tools are not ready: ${reason(error)}`);
        });
      }, WARM_UP_AFTER_MS);
      onStop(() => clearInterval(timer));
      const reach = setTimeout(() => {
        open()
          .then(({ foreign }) => foreign.reachAll())
          .catch((error) => log.warn({ error }, `the MCP servers could not be reached: ${reason(error)}`));
      }, REACH_AFTER_MS);
      onStop(() => clearTimeout(reach));
    }

    const outcomeOf = async (
      { name }: ToolCall,
      run: (host: ServiceHost) => Promise<{ readonly outcome: CallOutcome }>,
    ): Promise<CallOutcome> => {
      try {
        await live.current();
        return (await run(await open())).outcome;
      } catch (error) {
        log.error({ error, tool: name }, `a call of ${name} failed inside the tool host`);
        const message = `The tool host cannot run ${name}: ${kernel.mask.hide(reason(error))}`;
        return { status: "error", code: "unavailable", message };
      }
    };

    return {
      toolHost: {
        open,
        privateHosts: config.privateHosts,
        signingPassword: config.signingPassword,
        path: config.path ?? "",
      },
      packages: {
        fetch: async (what, options) => (await open()).fetchPackage(what, options),
        unpack: async (archive, bounds) => (await open()).unpackUpload(archive, bounds),
      },
      mcpServers: deferred(
        async (): Promise<McpServers> => (await open()).foreign.servers,
        [
          ...(["list", "index", "find", "add", "remove", "file", "edit", "agree", "test"] as const),
          ...(["beginSignIn", "setToken", "signOut"] as const),
        ],
      ),
      toolAdmin: deferred(
        async () => (await open()).admin,
        [
          ...([
            "examine",
            "install",
            "search",
            "find",
            "installFound",
            "remove",
            "enable",
            "limits",
          ] as const),
          ...([
            "setup",
            "setSetting",
            "setSecret",
            "removeSecret",
            "shareSecret",
            "beginSignIn",
            "finishSignIn",
            "clientDocument",
          ] as const),
          ...(["receipts", "receipt", "usage"] as const),
        ],
      ),
      tools: {
        async ready(onWait) {
          if (!(await lacksShipped())) return;
          const tell = () => preparing && onWait?.(...preparing);
          if (kernel.stays) {
            waiting.add(tell);
            tell();
          }
          try {
            await provide();
          } finally {
            waiting.delete(tell);
          }
        },
        async list(user) {
          await live.current();
          return (await open()).list(user);
        },
        call: (call, options) => outcomeOf(call, (host) => host.call(call, options)),
        resume: (call, resume, replies, options) =>
          outcomeOf(call, (host) => host.resume(call, resume, replies, options)),
        refusal: async (call, user) => (await open()).refusal(call, user),
        checkJson: async (...args) => (await open()).checkJson(...args),
      },
    };
  },
  operations: {
    live: readPrivateHosts,
    commands: [
      {
        name: "tool",
        group: "Tools",
        about: "write, install, inspect, run and remove tools",
        load: async () => (await import("./commands/tool.ts")).register,
      },
      {
        name: "registry",
        group: "Advanced",
        about: "sign in to the registries that tools come from",
        load: async () => (await import("./commands/registry.ts")).register,
      },
      {
        name: "mcp",
        group: "Tools",
        about: "manage the MCP servers of others whose tools the agent may use",
        load: async () => (await import("./commands/mcp/mcp.ts")).register,
      },
      {
        name: "trust",
        group: "Advanced",
        about: "say whose signature a tool needs, and make keys to sign with",
        load: async () => (await import("./commands/trust/trust.ts")).register,
      },
    ],
    // A service uses what is installed while it runs from the next message on.
    detail: async (look) => (await installed(look)).map(({ name }) => name).join(", ") || undefined,
    names: {
      tool: installed,
      server: ({ rows }) => rows("SELECT name FROM mcp_servers ORDER BY name"),
    },
    tables: async () => (await import("./owned-tables.ts")).TABLES,
    diagnose: async (context) => (await import("./diagnosis.ts")).diagnoseTools(context),
  },
});

/** Tools are folders in the home, or rows where nodes share a database. */
async function installed({
  home,
  rows,
}: StoreLook & { readonly home: string }): Promise<readonly { readonly name: string }[]> {
  return [
    ...foldersIn(join(home, "tools")).map((name) => ({ name })),
    ...(await rows<{ name: string }>("SELECT name FROM tools ORDER BY name")),
  ];
}

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

/** Methods of a part of the host; each opens the host when it is called. */
function deferred<Part, Name extends keyof Part>(
  open: () => Promise<Part>,
  names: readonly Name[],
): Pick<Part, Name> {
  const methods = names.map((name) => [
    name,
    async (...args: unknown[]) => {
      const part = await open();
      return (part[name] as (...args: unknown[]) => unknown).apply(part, args);
    },
  ]);
  return Object.fromEntries(methods);
}
