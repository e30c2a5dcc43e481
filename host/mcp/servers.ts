/** The operator's view of the servers: listing, adding, agreeing, testing, removing, and their credentials. */
import { ServerFileError } from "../../capabilities/servers/parse.ts";
import type { PrivateHosts } from "../../kernel/kit/outbound.ts";
import { Fault } from "../../kernel/plugin.ts";
import { Refused, readUrl } from "../broker/policy.ts";
import type { McpServers, SignInBrowser } from "../services.ts";
import type { McpServerInfo, SeenTool } from "../wire.ts";
import { SessionFailed } from "./session/failure.ts";
import type { Sessions } from "./session/sessions.ts";
import type { McpAccess } from "./sign-in/access.ts";
import type { Environments } from "./sign-in/environment.ts";
import { exceptionsOf, type McpTarget, targetOf } from "./sign-in/target.ts";
import { afterAgreeing, showTool } from "./tools/agreement.ts";
import type { ServerRows, StoredServer, StoredTool } from "./tools/rows.ts";
import { checkServerName, parseServerFile, writeServerFile } from "./tools/server-file.ts";

export interface ServerAdmin extends McpServers {
  /** Undefined where the address answers no sign-in of a server's. */
  finishSignIn(redirected: URL, browser?: SignInBrowser): Promise<{ readonly server: string } | undefined>;
  setClientSecret(name: string, secret: string): Promise<void>;
}

export interface ServersParts {
  readonly rows: ServerRows;
  readonly sessions: Sessions;
  readonly access: McpAccess;
  readonly environments: Environments;
  readonly privateHosts: PrivateHosts;
  readonly index: McpServers["index"];
}

export function createServers(parts: ServersParts): ServerAdmin {
  const { rows, sessions, access, environments, privateHosts } = parts;

  async function existing(name: string): Promise<StoredServer> {
    const server = await rows.find(name);
    if (server === undefined)
      throw new Fault("missing", "no_such_server", `There is no MCP server ${name}.`, { param: "name" });
    return server;
  }

  async function target(name: string): Promise<McpTarget> {
    const server = await existing(name);
    if (server.file.target.type === "http") return targetOf(server, server.file.target);
    const message = `${name} is a command: it gets its secrets as environment variables.`;
    throw new Fault("invalid", "no_sign_in", message, { param: "name" });
  }

  async function forgetCredentials(server: StoredServer): Promise<void> {
    await environments.forget(server);
    await access.forget(server.name);
  }

  async function show(server: StoredServer, user: string): Promise<McpServerInfo> {
    const { name, addedAt, file, trouble, leftOut = [] } = server;
    const live = sessions.state(server, user);
    // A process that has not tried itself passes on what another one found.
    const { status, detail: why } =
      live.status === "idle" && trouble ? { status: trouble.status, detail: trouble.why } : live;
    const http = file.target.type === "http" ? targetOf(server, file.target) : undefined;
    return {
      name,
      kind: file.target.type,
      address: file.target.type === "http" ? file.target.url : file.target.command.join(" "),
      status,
      detail: [why, ...leftOut].filter((text) => text !== undefined).join(" ") || undefined,
      revision: live.revision ?? server.revision,
      signsIn: http !== undefined && (await access.signsIn(http, user)),
      isSignedIn: http === undefined || (await access.isSignedIn(http, user)),
      perUser: http?.perUser ?? false,
      addedAt,
      tools: server.tools.flatMap((tool) => showTool(server, tool) ?? []),
    };
  }

  const check = (text: string): void => {
    try {
      const file = parseServerFile(text);
      if (file.target.type === "http") readUrl(file.target.url, exceptionsOf(file.target, privateHosts));
    } catch (error) {
      if (!(error instanceof ServerFileError || error instanceof Refused)) throw error;
      throw new Fault("invalid", "server_file", error.message, { cause: error, param: "file" });
    }
  };

  const reach = async (server: StoredServer, user: string, signal = new AbortController().signal) => {
    await sessions.use(server, user, signal, { anew: true });
    return existing(server.name);
  };

  return {
    index: parts.index,
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
        if (given.env !== undefined) await environments.set(added, given.env);
        if (given.token !== undefined) await access.setToken(await target(added.name), user, given.token);
        const reached = await reach(added, user, signal);
        // The operator is shown the tools now, and so has seen them.
        await rows.change(reached, ({ tools }) => ({ tools: afterAgreeing(tools, () => true, agree) }));
      } catch (error) {
        const isWanted = error instanceof SessionFailed && error.kind === "unauthenticated";
        // A server that wants a sign-in first stays for that; nothing is left of one that cannot be reached.
        if (!isWanted) {
          await forgetCredentials(added);
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
      await forgetCredentials(server);
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
    beginSignIn: async (name, user, redirectUri) => access.beginSignIn(await target(name), user, redirectUri),
    finishSignIn: (redirected, browser) => access.finishSignIn(redirected, target, browser),
    setClientSecret: async (name, secret) => void (await access.setClientSecret(await target(name), secret)),
    setToken: async (name, user, token) => void (await access.setToken(await target(name), user, token)),
    signOut: async (name, user) => access.signOut(await target(name), user),
  };
}

/** It may have changed again while somebody read what it said before. */
function assertSeen(name: string, tools: readonly StoredTool[], { tool, digest }: SeenTool): void {
  const known = tools.find((one) => one.isThere && isNamed(one, tool));
  if (known === undefined)
    throw new Fault("invalid", "no_such_tool", `${name} has no tool ${tool}.`, { param: "tools" });
  if ((known.now ?? known.agreed)?.digest === digest) return;
  const message = `${name} has changed ${tool} since you looked at it. Look at it again before you agree.`;
  throw new Fault("invalid", "tool_changed", message, { param: "tools" });
}

function isNamed({ tool, name }: { readonly tool: string; readonly name: string }, given: string): boolean {
  return tool === given || name === given;
}

function faultOf(name: string, error: unknown): unknown {
  if (!(error instanceof SessionFailed)) return error;
  return new Fault("unavailable", "server_unreachable", `${name} cannot be used: ${error.message}`, {
    cause: error,
  });
}
