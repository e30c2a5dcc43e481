/** `mcp list`, `mcp info` and `mcp test`. */
import { toWire } from "../../../kernel/kit/schema.ts";
import {
  fields,
  type JsonOption,
  relativeTime,
  type TableOptions,
  table,
  waitFor,
} from "../../../kernel/kit/terminal.ts";
import type { CommandContext } from "../../../kernel/plugin.ts";
import { type McpServerInfo, McpServerInfo as ServerForm } from "../../wire.ts";
import { print, progress } from "../terminal/terminal.ts";
import { countTools, describeChanges, describeTarget, describeTools } from "./describe.ts";
import { interruptible, OPERATOR, withServer, withServers } from "./server-access.ts";

export async function list(context: CommandContext, options: JsonOption): Promise<void> {
  await withServers(context, async (mcpServers) => {
    const servers = await mcpServers.list(OPERATOR);
    const value = { servers: servers.map((server) => toWire(ServerForm, server)) };
    if (options.json || servers.length === 0)
      print(options, value, () => 'No MCP servers. See "postern mcp add --help".');
    else {
      const rows = servers.map((server) => [
        server.name,
        server.status,
        countTools(server.tools),
        server.address,
      ]);
      const head = ["NAME", "STATUS", "TOOLS", "ADDRESS"];
      await context.show(table(head, rows, { cut: ["ADDRESS"], colours: STATES }));
    }
  });
}

const STATES: TableOptions["colours"] = {
  STATUS: (status) =>
    (({ connected: "green", unreachable: "red", unauthenticated: "yellow" }) as const)[status],
};

export async function info(
  context: CommandContext,
  name: string,
  options: JsonOption & { readonly verbose?: boolean },
): Promise<void> {
  await withServer(context, name, async (server) => {
    print(options, toWire(ServerForm, server), () => describe(server, options.verbose));
  });
}

export async function test(
  context: CommandContext,
  name: string,
  options: JsonOption & { readonly user: string },
): Promise<void> {
  await withServer(
    context,
    name,
    async (_, servers) => {
      progress(`connecting to ${name} …`);
      const since = performance.now();
      const server = await waitFor(`connecting to ${name}`, options, () =>
        interruptible((signal) => servers.test(name, options.user, signal)),
      );
      const millis = Math.round(performance.now() - since);
      print(
        options,
        { ...toWire(ServerForm, server), millis },
        () =>
          `${name} answers (MCP ${server.revision ?? "of an unknown revision"}, ${millis} ms): ${countTools(server.tools)}.${held(server)}`,
      );
    },
    options.user,
  );
}

function describe(server: McpServerInfo, verbose = false): string {
  const { name, status, detail, revision, signsIn, isSignedIn, perUser, addedAt, tools } = server;
  const credential = isSignedIn ? "signed in" : `not signed in: postern mcp auth ${name}`;
  const changes = describeChanges(tools);
  return [
    `${name}: ${describeTarget(server)}\n`,
    fields([
      ["status", detail === undefined ? status : `${status}. ${detail}`],
      ...(revision === undefined ? [] : [["protocol", revision]]),
      ...(signsIn ? [["credential", perUser ? `one for each user; you: ${credential}` : credential]] : []),
      ["added", `${relativeTime(addedAt)} (${addedAt})`],
    ]),
    describeTools(tools, { verbose }),
    ...(changes === "" ? [] : [`${changes}\n`, `Held back until you agree: postern mcp agree ${name}`]),
  ]
    .join("\n")
    .trimEnd();
}

function held({ name, tools }: McpServerInfo): string {
  return tools.some(({ state }) => state === "held") ? ` See what is new: postern mcp info ${name}` : "";
}
