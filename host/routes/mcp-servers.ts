/** MCP servers of others: the operator adds them and agrees to their tools; a user sees them, and signs in where each has a sign-in of their own. */
import type { Context } from "koa";
import { missingFault, orRefuse, type Route, routesOf } from "../../kernel/kit/http.ts";
import { Type } from "../../kernel/kit/schema.ts";
import { Fault, type Services, type User } from "../../kernel/plugin.ts";
import {
  type McpServerInfo,
  NewMcpServer,
  SeenTool,
  McpServerInfo as Server,
  ServerListing,
} from "../wire.ts";
import { markBrowser } from "./sign-in-cookie.ts";
import { callbackOn } from "./tool-admin.ts";

const route = routesOf("mcp");
const operatorRoute = routesOf("mcp", "operator");

const missing = { 404: "There is no such server" };
const unreachable = { ...missing, 503: "It does not answer" };
const shared = { 403: "The token has a scope, or all users share a sign-in that only the operator changes" };

export function mcpServerRoutes({
  mcpServers,
  web,
}: Partial<Pick<Services, "mcpServers">> & Pick<Services, "web">): readonly Route[] {
  const servers = orRefuse(
    mcpServers,
    "no_mcp_servers",
    "MCP servers cannot be managed here: the tool host is off.",
  );
  const find = async (user: User, name: string): Promise<McpServerInfo> => {
    const found = await servers().find(name, user.id);
    if (!found) throw notFound(name);
    return found;
  };
  /** Finds the server if this user may change the sign-in that counts for them. */
  const findSignable = async (user: User, name: string): Promise<McpServerInfo> => {
    const found = await find(user, name);
    if (!found.perUser && user.role !== "operator") {
      const message = `All users share one sign-in at ${name}; only an operator can change it.`;
      throw new Fault("forbidden", "operator_only", message);
    }
    return found;
  };
  const server = "/api/mcp/servers/{name}";

  return [
    route("GET /api/mcp/servers", {
      summary: "List the MCP servers whose tools the agent may use, each with its tools",
      answer: Type.Object({ servers: Type.Array(Server) }),
      scoped: true,
      async handle({ user }) {
        const all = (await mcpServers?.list(user.id)) ?? [];
        return { servers: user.role === "operator" ? all : all.map(forUser) };
      },
    }),
    operatorRoute("GET /api/mcp/index", {
      summary: "List well-known MCP servers and those of `MCP_INDEX`, to be added by name",
      answer: ServerListing,
      // Without a tool host there is nothing to add, as the list of servers is empty then.
      handle: async () => (await mcpServers?.index()) ?? { date: "", servers: [], problems: [] },
    }),
    operatorRoute("POST /api/mcp/servers", {
      summary:
        "Add a server by its `url` or by a `command` that this machine runs; `agree` lets its read-only tools run without asking",
      body: Type.Object({ ...NewMcpServer.properties, agree: Type.Optional(Type.Boolean()) }),
      status: 201,
      answer: Server,
      refusals: { 503: "It does not answer" },
      handle: ({ user, context, body: { agree = false, ...added } }) =>
        servers().add(added, { user: user.id, agree, signal: whileAsked(context) }),
    }),
    operatorRoute(`GET ${server}`, {
      summary: "Get a server with its tools, and what is new where a tool is held back",
      answer: Server,
      refusals: missing,
      handle: ({ user, params }) => find(user, params.name),
    }),
    operatorRoute(`DELETE ${server}`, {
      summary: "Remove a server with its tools and sign-ins",
      status: 204,
      refusals: missing,
      async handle({ params: { name } }) {
        if (!(await servers().remove(name))) throw notFound(name);
      },
    }),
    operatorRoute(`GET ${server}/file`, {
      summary: "Get a server's file: which tools, which run without asking, limits, credentials by name",
      answer: Type.Object({ file: Type.String() }),
      refusals: missing,
      handle: async ({ params }) => ({ file: await servers().file(params.name) }),
    }),
    operatorRoute(`PUT ${server}/file`, {
      summary: "Replace a server's file; every mistake in it is named at once",
      body: Type.Object({ file: Type.String({ maxLength: 262_144 }) }),
      answer: Server,
      refusals: missing,
      handle: ({ params, body }) => servers().edit(params.name, body.file),
    }),
    operatorRoute(`POST ${server}/agree`, {
      summary: "Agree to tools as they were shown: one that has changed since, or is not there, is refused",
      body: Type.Object({ tools: Type.Array(SeenTool, { maxItems: 1000 }) }),
      answer: Server,
      refusals: missing,
      handle: ({ params, body }) => servers().agree(params.name, body.tools),
    }),
    operatorRoute(`POST ${server}/test`, {
      summary: "Connect anew and read the server's tools",
      answer: Server,
      refusals: unreachable,
      handle: ({ user, params, context }) => servers().test(params.name, user.id, whileAsked(context)),
    }),
    route(`POST ${server}/sign-in`, {
      summary: "Start signing in at a server: send the browser to `url`",
      answer: Type.Object({ url: Type.String() }),
      refusals: { 400: "The server has no sign-in", ...shared, ...unreachable },
      async handle({ user, params, context }) {
        const { name } = await findSignable(user, params.name);
        const comesBackTo = callbackOn(web, context);
        const begun = await servers().beginSignIn(name, user.id, comesBackTo);
        markBrowser(context, begun.url, comesBackTo);
        return begun;
      },
    }),
    route(`PUT ${server}/token`, {
      summary: "Give the server a token in place of a sign-in; it is stored encrypted and never shown again",
      body: Type.Object({ token: Type.String({ minLength: 1, maxLength: 65_536 }) }),
      status: 204,
      refusals: { ...shared, ...missing },
      async handle({ user, params, body }) {
        const { name } = await findSignable(user, params.name);
        await servers().setToken(name, user.id, body.token);
      },
    }),
    route(`DELETE ${server}/token`, {
      summary: "Sign out at a server: forget the token or the sign-in",
      status: 204,
      refusals: { ...shared, ...missing },
      async handle({ user, params }) {
        const { name } = await findSignable(user, params.name);
        if (!(await servers().signOut(name, user.id)))
          throw missingFault("not_signed_in", `There is no sign-in at ${name}.`, "name");
      },
    }),
  ];
}

function notFound(name: string): Fault {
  return missingFault("mcp_server_not_found", `There is no MCP server ${name}.`, "name");
}

/** Hides the operator's programs on this machine, and tools that are not agreed to yet, from other users. */
function forUser(server: McpServerInfo): McpServerInfo {
  const tools = server.tools.map(({ change: _, ...tool }) => tool);
  if (server.kind !== "command") return { ...server, tools };
  const { detail: _, ...info } = server;
  return { ...info, address: "a command on the server", tools };
}

/** Ends when the caller has gone. */
function whileAsked({ res }: Context): AbortSignal {
  const gone = new AbortController();
  res.once("close", () => gone.abort());
  return gone.signal;
}
