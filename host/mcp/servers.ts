/** The operator's view of the servers: what there is, adding, agreeing, testing, removing. */
import { ServerFileError } from "../../capabilities/servers/parse.ts";
import type { PrivateHosts } from "../../kernel/kit.ts";
import {
  Fault,
  type McpServerInfo,
  type McpServers,
  type McpTool,
  type SeenTool,
} from "../../kernel/plugin.ts";
import { Refused, readUrl } from "../broker/policy.ts";
import type { Credentials } from "./credentials.ts";
import { checkServerName, parseServerFile, writeServerFile } from "./server-file.ts";
import { ConnectionFailed } from "./session/failure.ts";
import type { Connections } from "./session/sessions.ts";
import { afterAgreeing, showTool } from "./tools/agreement.ts";
import type { ServerRows, StoredServer, StoredTool } from "./tools/rows.ts";

export interface ServersParts {
  readonly rows: ServerRows;
  readonly connections: Connections;
  readonly credentials: Credentials;
  readonly privateHosts: PrivateHosts;
}

export function createServers({ rows, connections, credentials, privateHosts }: ServersParts): McpServers {
  async function existing(name: string): Promise<StoredServer> {
    const server = await rows.find(name);
    if (server === undefined)
      throw new Fault("missing", "no_such_server", `There is no MCP server ${name}.`, { param: "name" });
    return server;
  }

  async function show(server: StoredServer, user: string): Promise<McpServerInfo> {
    const { name, addedAt, file, trouble } = server;
    const { target } = file;
    const live = connections.state(server, user);
    // A process that has not tried itself passes on what another one found.
    const isTold = live.status === "idle" && trouble !== undefined;
    const status = isTold ? trouble.status : live.status;
    const revision = live.revision ?? server.revision;
    const why = isTold ? trouble.why : live.detail;
    const detail = [why, ...(server.leftOut ?? [])].filter((text) => text !== undefined).join(" ");
    return {
      name,
      kind: target.type,
      address: target.type === "http" ? target.url : target.command.join(" "),
      status,
      ...(detail !== "" && { detail }),
      ...(revision !== undefined && { revision }),
      ...(await credentials.standing(server, user)),
      perUser: target.type === "http" && target.credential.perUser,
      addedAt,
      tools: server.tools.flatMap((tool): McpTool[] => {
        const shown = showTool(server, tool);
        return shown === undefined ? [] : [shown];
      }),
    };
  }

  const check = (text: string): void => {
    try {
      const file = parseServerFile(text);
      if (file.target.type === "http") readUrl(file.target.url, privateHosts);
    } catch (error) {
      if (!(error instanceof ServerFileError || error instanceof Refused)) throw error;
      throw new Fault("invalid", "server_file", error.message, { cause: error, param: "file" });
    }
  };

  const reach = async (server: StoredServer, user: string, signal = new AbortController().signal) => {
    await connections.use(server, user, signal, { anew: true });
    return existing(server.name);
  };

  return {
    async list(user) {
      return Promise.all((await rows.all()).map((server) => show(server, user)));
    },
    async find(name, user) {
      const server = await rows.find(name);
      return server && show(server, user);
    },
    async add(given, { user, agree, signal }) {
      checkServerName(given.name);
      const fileText = writeServerFile(given);
      check(fileText);
      const added = await rows.add({ name: given.name, fileText });
      try {
        if (given.env !== undefined) await credentials.setEnvironment(added, given.env);
        if (given.token !== undefined) await credentials.setToken(added.name, user, given.token);
        const reached = await reach(added, user, signal);
        // What the operator is shown now is what they have seen.
        await rows.change(reached, ({ tools }) => ({ tools: afterAgreeing(tools, () => true, agree) }));
      } catch (error) {
        const isWanted = error instanceof ConnectionFailed && error.kind === "unauthenticated";
        // One that wants a sign-in first is there for that; nothing is left of one that cannot be reached.
        if (!isWanted) {
          await credentials.forget(added);
          await rows.remove(added.name);
          throw faultOf(added.name, error);
        }
        if (agree) await rows.change(added, () => ({ isAgreedAhead: true }));
      }
      return show(await existing(added.name), user);
    },
    async remove(name) {
      const server = await rows.find(name);
      if (server === undefined) return false;
      const isRemoved = await rows.remove(name);
      await credentials.forget(server);
      return isRemoved;
    },
    file: async (name) => (await existing(name)).fileText,
    async edit(name, fileText) {
      const server = await existing(name);
      check(fileText);
      await rows.change(server, () => ({ fileText }));
      return show(await existing(name), "");
    },
    async agree(name, seen) {
      const server = await existing(name);
      await rows.change(server, ({ tools }) => {
        for (const one of seen) assertSeen(name, tools, one);
        return { tools: afterAgreeing(tools, (tool) => seen.some((one) => isNamed(tool, one.tool)), true) };
      });
      return show(await existing(name), "");
    },
    async test(name, user, signal) {
      const server = await existing(name);
      try {
        return await show(await reach(server, user, signal), user);
      } catch (error) {
        throw faultOf(name, error);
      }
    },
    beginSignIn: credentials.beginSignIn,
    setToken: credentials.setToken,
    signOut: credentials.signOut,
  };
}

/** It may have changed again while somebody read what it said before. */
function assertSeen(name: string, tools: readonly StoredTool[], { tool, digest }: SeenTool): void {
  const known = tools.find((one) => one.isThere && isNamed(one, tool));
  if (known === undefined)
    throw new Fault("invalid", "no_such_tool", `${name} has no tool ${tool}.`, { param: "tools" });
  if ((known.now ?? known.agreed)?.digest === digest) return;
  throw new Fault(
    "invalid",
    "tool_changed",
    `${name} has changed ${tool} since you looked at it. Look at it again before you agree.`,
    { param: "tools" },
  );
}

function isNamed({ tool, name }: { readonly tool: string; readonly name: string }, given: string): boolean {
  return tool === given || name === given;
}

function faultOf(name: string, error: unknown): unknown {
  if (!(error instanceof ConnectionFailed)) return error;
  return new Fault("unavailable", "server_unreachable", `${name} cannot be used: ${error.message}`, {
    cause: error,
  });
}
