/** Installing, removing and setting up tools: the operator's. The grants are shown before anything happens. */
import type { Context } from "koa";
import {
  clientDocument,
  type Form,
  ListedTool,
  type Proxies,
  type ToolAdmin,
  ToolFinding,
  ToolInfo,
  ToolProposal,
  ToolSetup,
  type ToolUpload,
  Type,
} from "../../../../kernel/kit.ts";
import { Fault } from "../../../../kernel/plugin.ts";
import { type Route, route } from "../../route.ts";
import { isMarked } from "../../sign-in/sign-in-cookie.ts";

const CALLBACK_PATH = "/oauth/callback";
const CLIENT_PATH = "/oauth/client";

const upload = {
  name: Type.String(),
  component: Type.String({ format: "binary", description: "The WebAssembly component" }),
  capabilities: Type.String({ description: "The capabilities file, as a file or as text" }),
};

const reference = {
  minLength: 1,
  maxLength: 2048,
  description: "https://…/x.wasm, oci://registry/repository:tag, npm:package or a name",
};

const found = {
  400: "It is not a tool that can be installed, or not signed as it has to be",
  404: "There is nothing at the reference",
  503: "It could not be reached",
};

const missing = { 404: "There is no such tool" };

/** Where a provider sends the browser back to. */
export const callbackOn =
  (proxies: Proxies) =>
  ({ req }: Context): string =>
    `${proxies.isHttps(req) ? "https" : "http"}://${proxies.host(req)}${CALLBACK_PATH}`;

export function toolAdminRoutes(
  given: ToolAdmin | undefined,
  redirectUri: (context: Context) => string,
): readonly Route[] {
  const admin = (): ToolAdmin => {
    if (!given)
      throw new Fault(
        "unavailable",
        "no_tool_admin",
        "The tool host cannot be managed from here; use postern tool.",
      );
    return given;
  };

  return [
    route({
      method: "post",
      path: "/api/tools/examine",
      tag: "tools",
      summary: "Check a component and say in words what it may do, without installing it",
      audience: "operator",
      form: Type.Object(upload),
      answer: ToolProposal,
      handle: ({ form }) => admin().examine(nameIn(form), uploadIn(form)),
    }),
    route({
      method: "post",
      path: "/api/tools",
      tag: "tools",
      summary: "Install a component; `replace` allows replacing the tool of that name",
      audience: "operator",
      form: Type.Object({ ...upload, replace: Type.Optional(Type.Enum(["true", "false"])) }),
      status: 201,
      answer: ToolInfo,
      handle: ({ form }) =>
        admin().install(nameIn(form), uploadIn(form), { replace: form.text("replace") === "true" }),
    }),
    route({
      method: "get",
      path: "/api/tool-index",
      tag: "tools",
      summary: "Find tools to install in the indexes that `TOOLS_INDEX` names, the best match first",
      audience: "operator",
      query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })) }),
      answer: Type.Object({ tools: Type.Array(ListedTool), problems: Type.Array(Type.String()) }),
      async handle({ query }) {
        const { tools, problems } = await offered(admin().search)(query.q ?? "");
        return { tools: [...tools], problems: [...problems] };
      },
    }),
    route({
      method: "post",
      path: "/api/tools/find",
      tag: "tools",
      summary:
        "Get a tool by `from` and say in words what it may do and who signed it, without installing it",
      audience: "operator",
      body: Type.Object({ from: Type.String(reference), name: Type.Optional(Type.String()) }),
      answer: ToolFinding,
      refusals: found,
      handle: ({ body }) => offered(admin().find)(body.from, body.name),
    }),
    route({
      method: "post",
      path: "/api/tools/install",
      tag: "tools",
      summary: "Install a tool that was found, if it is still the same",
      audience: "operator",
      body: Type.Object({
        from: Type.String(reference),
        name: Type.String(),
        digest: Type.String({ description: "`origin.digest` of what was found" }),
        replace: Type.Optional(Type.Boolean()),
        allowUnsigned: Type.Optional(Type.Boolean({ description: "Agree to what nobody named has signed" })),
      }),
      status: 201,
      answer: ToolInfo,
      refusals: found,
      handle: ({ body }) =>
        offered(admin().installFound)(body.from, {
          name: body.name,
          digest: body.digest,
          replace: body.replace ?? false,
          allowUnsigned: body.allowUnsigned ?? false,
        }),
    }),
    route({
      method: "delete",
      path: "/api/tools/{name}",
      tag: "tools",
      summary: "Remove a tool; its secrets stay",
      audience: "operator",
      status: 204,
      refusals: missing,
      async handle({ params }) {
        const name = params["name"] ?? "";
        if (!(await admin().remove(name)))
          throw new Fault("missing", "tool_not_found", `There is no tool ${name}.`, { param: "name" });
      },
    }),
    route({
      method: "post",
      path: "/api/tools/{name}/enable",
      tag: "tools",
      summary: "Switch a tool on again that was switched off because it kept crashing",
      audience: "operator",
      answer: Type.Object({ enabled: Type.Boolean({ description: "False where it was on" }) }),
      refusals: missing,
      handle: async ({ params }) => ({ enabled: await admin().enable(params["name"] ?? "") }),
    }),
    route({
      method: "get",
      path: "/api/tools/{name}/setup",
      tag: "tools",
      summary: "Get what a tool needs before it works",
      audience: "operator",
      answer: ToolSetup,
      refusals: missing,
      handle: ({ params }) => admin().setup(params["name"] ?? ""),
    }),
    route({
      method: "put",
      path: "/api/tools/{name}/secrets/{secret}",
      tag: "tools",
      summary: "Set a secret of a tool; it is stored encrypted and never shown again",
      audience: "operator",
      body: Type.Object({ value: Type.String({ minLength: 1, maxLength: 65_536 }) }),
      answer: Type.Object({
        warning: Type.Optional(
          Type.String({ description: "The value is stored, but too short to be hidden" }),
        ),
      }),
      refusals: missing,
      handle: ({ params, body }) =>
        admin().setSecret(params["name"] ?? "", params["secret"] ?? "", body.value),
    }),
    route({
      method: "post",
      path: "/api/tools/{name}/secrets/{secret}/share",
      tag: "tools",
      summary:
        "Let a tool use a secret that was given to another tool, version or host, as `shares` of its setup asks",
      audience: "operator",
      status: 204,
      refusals: missing,
      handle: ({ params }) => admin().shareSecret(params["name"] ?? "", params["secret"] ?? ""),
    }),
    route({
      method: "post",
      path: "/api/tools/{name}/sign-in",
      tag: "tools",
      summary: "Start signing in for a tool: send the browser to `url`",
      audience: "operator",
      answer: Type.Object({ url: Type.String() }),
      refusals: { 400: "The tool does not sign in this way", ...missing },
      handle: ({ params, context }) => admin().beginSignIn(params["name"] ?? "", redirectUri(context)),
    }),
    route({
      method: "get",
      path: CALLBACK_PATH,
      tag: "tools",
      summary: "Receive the browser back from a provider; `state` says which sign-in it belongs to",
      audience: "anyone",
      answer: "text/plain",
      refusals: {
        400: "No sign-in with this `state` was started here",
        403: "It is a user's own sign-in, and was started in another browser",
      },
      async handle({ context }) {
        context.type = "text/plain";
        const redirected = URL.parse(context.search, redirectUri(context));
        if (redirected === null) return context.throw(400);
        const { tool } = await admin().finishSignIn(redirected, { began: isMarked(context, redirected) });
        return `${tool} is signed in. You can close this window.\n`;
      },
    }),
    route({
      method: "get",
      path: CLIENT_PATH,
      tag: "tools",
      summary:
        "Describe this service to the authorization servers of MCP servers; its address is the client id",
      audience: "anyone",
      answer: Type.Record(Type.String(), Type.Unknown()),
      handle: ({ context }) => ({ ...clientDocument(redirectUri(context)) }),
    }),
  ];
}

/** A tool host of somebody else's may not know references. */
function offered<Method>(method: Method | undefined): Method {
  if (method === undefined)
    throw new Fault("unavailable", "no_references", "This tool host installs uploaded files only.");
  return method;
}

function nameIn(form: Form): string {
  const name = form.text("name");
  if (!name) throw lacks("name", "the tool's name");
  return name;
}

function uploadIn(form: Form): ToolUpload {
  const component = form.bytes("component");
  const capabilities = form.text("capabilities");
  if (component === undefined) throw lacks("component", "the component, as a file");
  if (capabilities === undefined) throw lacks("capabilities", "the capabilities file");
  return { component, capabilities };
}

function lacks(field: string, what: string): Fault {
  return new Fault("invalid", "invalid_request", `The form lacks ${what} (\`${field}\`).`, { param: field });
}
