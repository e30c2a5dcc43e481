/** MCP servers of others: the operator adds them and agrees to their tools; a user sees them, and signs in where each has a sign-in of their own. */
import type { Context } from "koa";
import {
  type McpServerInfo,
  type McpServers,
  NewMcpServer,
  SeenTool,
  McpServerInfo as Server,
  Type,
} from "../../../../kernel/kit.ts";
import { Fault, type User } from "../../../../kernel/plugin.ts";
import { type Route, route } from "../../route.ts";
import { markBrowser } from "../../sign-in/sign-in-cookie.ts";

const missing = { 404: "There is no such server" };
const unreachable = { ...missing, 503: "It does not answer" };
const shared = { 403: "The token has a scope, or all users share a sign-in that only the operator changes" };

/** `redirectUri`: where a provider sends the browser back to. */
export function mcpServerRoutes(
  given: McpServers | undefined,
  redirectUri: (context: Context) => string,
): readonly Route[] {
  const servers = (): McpServers => {
    if (!given)
      throw new Fault(
        "unavailable",
        "no_mcp_servers",
        "MCP servers cannot be managed here: the tool host is off.",
      );
    return given;
  };
  /** The server, where this user may change the sign-in that counts for them. */
  const signable = async (user: User, name = ""): Promise<McpServerInfo> => {
    const found = await servers().find(name, user.id);
    if (!found) throw notFound(name);
    if (!found.perUser && user.role !== "operator")
      throw new Fault(
        "forbidden",
        "operator_only",
        `All users share one sign-in at ${name}; only an operator can change it.`,
      );
    return found;
  };
  const server = "/api/mcp/servers/{name}";

  return [
    route({
      method: "get",
      path: "/api/mcp/servers",
      tag: "mcp",
      summary: "List the MCP servers whose tools the agent may use, each with its tools",
      answer: Type.Object({ servers: Type.Array(Server) }),
      async handle({ user }) {
        const all = (await given?.list(user.id)) ?? [];
        return { servers: user.role === "operator" ? all : all.map(forUser) };
      },
    }),
    route({
      method: "post",
      path: "/api/mcp/servers",
      tag: "mcp",
      summary:
        "Add a server by its `url` or by a `command` that this machine runs; `agree` lets its read-only tools run without asking",
      audience: "operator",
      body: Type.Object({ ...NewMcpServer.properties, agree: Type.Optional(Type.Boolean()) }),
      status: 201,
      answer: Server,
      refusals: { 503: "It does not answer" },
      handle: ({ user, context, body: { agree = false, ...added } }) =>
        servers().add(added, { user: user.id, agree, signal: whileAsked(context) }),
    }),
    route({
      method: "get",
      path: server,
      tag: "mcp",
      summary: "Get a server with its tools, and what is new where a tool is held back",
      audience: "operator",
      answer: Server,
      refusals: missing,
      async handle({ user, params: { name = "" } }) {
        const found = await servers().find(name, user.id);
        if (!found) throw notFound(name);
        return found;
      },
    }),
    route({
      method: "delete",
      path: server,
      tag: "mcp",
      summary: "Remove a server with its tools and sign-ins",
      audience: "operator",
      status: 204,
      refusals: missing,
      async handle({ params: { name = "" } }) {
        if (!(await servers().remove(name))) throw notFound(name);
      },
    }),
    route({
      method: "get",
      path: `${server}/file`,
      tag: "mcp",
      summary: "Get a server's file: which tools, which run without asking, limits, credentials by name",
      audience: "operator",
      answer: Type.Object({ file: Type.String() }),
      refusals: missing,
      handle: async ({ params }) => ({ file: await servers().file(params["name"] ?? "") }),
    }),
    route({
      method: "put",
      path: `${server}/file`,
      tag: "mcp",
      summary: "Replace a server's file; every mistake in it is named at once",
      audience: "operator",
      body: Type.Object({ file: Type.String({ maxLength: 262_144 }) }),
      answer: Server,
      refusals: missing,
      handle: ({ params, body }) => servers().edit(params["name"] ?? "", body.file),
    }),
    route({
      method: "post",
      path: `${server}/agree`,
      tag: "mcp",
      summary: "Agree to tools as they were shown: one that has changed since, or is not there, is refused",
      audience: "operator",
      body: Type.Object({ tools: Type.Array(SeenTool, { maxItems: 1000 }) }),
      answer: Server,
      refusals: missing,
      handle: ({ params, body }) => servers().agree(params["name"] ?? "", body.tools),
    }),
    route({
      method: "post",
      path: `${server}/test`,
      tag: "mcp",
      summary: "Connect anew and read the server's tools",
      audience: "operator",
      answer: Server,
      refusals: unreachable,
      handle: ({ user, params, context }) =>
        servers().test(params["name"] ?? "", user.id, whileAsked(context)),
    }),
    route({
      method: "post",
      path: `${server}/sign-in`,
      tag: "mcp",
      summary: "Start signing in at a server: send the browser to `url`",
      answer: Type.Object({ url: Type.String() }),
      refusals: { 400: "The server has no sign-in", ...shared, ...unreachable },
      async handle({ user, params, context }) {
        const { name } = await signable(user, params["name"]);
        const comesBackTo = redirectUri(context);
        const begun = await servers().beginSignIn(name, user.id, comesBackTo);
        markBrowser(context, begun.url, comesBackTo);
        return begun;
      },
    }),
    route({
      method: "put",
      path: `${server}/token`,
      tag: "mcp",
      summary: "Give the server a token in place of a sign-in; it is stored encrypted and never shown again",
      body: Type.Object({ token: Type.String({ minLength: 1, maxLength: 65_536 }) }),
      status: 204,
      refusals: { ...shared, ...missing },
      async handle({ user, params, body }) {
        const { name } = await signable(user, params["name"]);
        await servers().setToken(name, user.id, body.token);
      },
    }),
    route({
      method: "delete",
      path: `${server}/token`,
      tag: "mcp",
      summary: "Sign out at a server: forget the token or the sign-in",
      status: 204,
      refusals: { ...shared, ...missing },
      async handle({ user, params }) {
        const { name } = await signable(user, params["name"]);
        if (!(await servers().signOut(name, user.id)))
          throw new Fault("missing", "not_signed_in", `There is no sign-in at ${name}.`, { param: "name" });
      },
    }),
  ];
}

function notFound(name: string): Fault {
  return new Fault("missing", "mcp_server_not_found", `There is no MCP server ${name}.`, { param: "name" });
}

/** What the operator runs on this machine, and what is still to be agreed to, is the operator's to see. */
function forUser(server: McpServerInfo): McpServerInfo {
  const { detail: _, ...info } = server;
  return {
    ...info,
    ...(server.kind === "command"
      ? { address: "a command on the server" }
      : server.detail && { detail: server.detail }),
    tools: server.tools.map(({ change: _, ...tool }) => tool),
  };
}

/** Ends when the caller has gone. */
function whileAsked({ res }: Context): AbortSignal {
  const gone = new AbortController();
  res.once("close", () => gone.abort());
  return gone.signal;
}
