/** Installing, removing and setting up tools: the operator's. The grants are shown before anything happens. */
import type { Context } from "koa";
import { type Form, missingFault, orRefuse, type Route, routesOf } from "../../kernel/kit/http.ts";
import { Type } from "../../kernel/kit/schema.ts";
import { ToolInfo } from "../../kernel/kit/tools.ts";
import { Fault, type Services } from "../../kernel/plugin.ts";
import type { ToolUpload } from "../services.ts";
import { ListedTool, ToolFinding, ToolProposal, ToolSetup } from "../wire.ts";
import { isMarked, markBrowser } from "./sign-in-cookie.ts";

const route = routesOf("tools");
const operatorRoute = routesOf("tools", "operator");

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

/** Returns the address that a provider sends the browser back to. */
export const callbackOn = (web: Services["web"], { req }: Context) => web.originOf(req) + CALLBACK_PATH;

export function toolAdminRoutes({
  toolAdmin,
  web,
}: Partial<Pick<Services, "toolAdmin">> & Pick<Services, "web">): readonly Route[] {
  const admin = orRefuse(
    toolAdmin,
    "no_tool_admin",
    "The tool host cannot be managed from here; use postern tool.",
  );
  const beginSignIn = async (name: string, context: Context, user?: string) => {
    const comesBackTo = callbackOn(web, context);
    const begun = await admin().beginSignIn(name, comesBackTo, user);
    markBrowser(context, begun.url, comesBackTo);
    return begun;
  };

  return [
    operatorRoute("POST /api/tools/examine", {
      summary: "Check a component and say in words what it may do, without installing it",
      form: Type.Object(upload),
      answer: ToolProposal,
      handle: ({ form }) => admin().examine(nameIn(form), uploadIn(form)),
    }),
    operatorRoute("POST /api/tools", {
      summary: "Install a component; `replace` allows replacing the tool of that name",
      form: Type.Object({ ...upload, replace: Type.Optional(Type.Enum(["true", "false"])) }),
      status: 201,
      answer: ToolInfo,
      handle: ({ form }) =>
        admin().install(nameIn(form), uploadIn(form), { replace: form.text("replace") === "true" }),
    }),
    operatorRoute("GET /api/tool-index", {
      summary: "Find tools to install in the indexes that `TOOLS_INDEX` names, the best match first",
      query: Type.Object({ q: Type.Optional(Type.String({ maxLength: 200 })) }),
      answer: Type.Object({ tools: Type.Array(ListedTool), problems: Type.Array(Type.String()) }),
      async handle({ query }) {
        const { tools, problems } = await offered(admin().search)(query.q ?? "");
        return { tools: [...tools], problems: [...problems] };
      },
    }),
    operatorRoute("POST /api/tools/find", {
      summary:
        "Get a tool by `from` and say in words what it may do and who signed it, without installing it",
      body: Type.Object({ from: Type.String(reference), name: Type.Optional(Type.String()) }),
      answer: ToolFinding,
      refusals: found,
      handle: ({ body }) => offered(admin().find)(body.from, body.name),
    }),
    operatorRoute("POST /api/tools/install", {
      summary: "Install a tool that was found, if it is still the same",
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
      handle: ({ body: { from, replace = false, allowUnsigned = false, ...found } }) =>
        offered(admin().installFound)(from, { ...found, replace, allowUnsigned }),
    }),
    operatorRoute("DELETE /api/tools/{name}", {
      summary: "Remove a tool; secrets that all users share stay",
      status: 204,
      refusals: missing,
      async handle({ params: { name } }) {
        if (!(await admin().remove(name)))
          throw missingFault("tool_not_found", `There is no tool ${name}.`, "name");
      },
    }),
    operatorRoute("POST /api/tools/{name}/enable", {
      summary: "Switch a tool on again that was switched off because it kept crashing",
      answer: Type.Object({ enabled: Type.Boolean({ description: "False where it was on" }) }),
      refusals: missing,
      handle: async ({ params }) => ({ enabled: await admin().enable(params.name) }),
    }),
    operatorRoute("GET /api/tools/{name}/setup", {
      summary: "Get what a tool needs before it works",
      answer: ToolSetup,
      refusals: missing,
      handle: ({ params }) => admin().setup(params.name),
    }),
    operatorRoute("PUT /api/tools/{name}/settings/{setting}", {
      summary: "Give a setting of a tool another value; an empty one is the default again",
      body: Type.Object({
        value: Type.String({ maxLength: 2000 }),
        agreed: Type.Optional(
          Type.Boolean({ description: "The person has agreed to `asks` of the last answer" }),
        ),
      }),
      answer: Type.Object({
        saved: Type.Boolean(),
        asks: Type.Array(Type.String(), {
          description:
            "Grants that the tool would gain with this value; nothing is saved before a person agrees",
        }),
      }),
      refusals: { 400: "There is no such setting, or the value is not of its format", ...missing },
      async handle({ params, body }) {
        const { value, agreed = false } = body;
        const { saved, asks } = await offered(admin().setSetting)(params.name, params.setting, value, agreed);
        return { saved, asks: [...asks] };
      },
    }),
    operatorRoute("PUT /api/tools/{name}/secrets/{secret}", {
      summary: "Set a secret of a tool; it is stored encrypted and never shown again",
      body: Type.Object({ value: Type.String({ minLength: 1, maxLength: 65_536 }) }),
      answer: Type.Object({
        warning: Type.Optional(
          Type.String({ description: "The value is stored, but too short to be hidden" }),
        ),
      }),
      refusals: missing,
      handle: ({ params, body }) => admin().setSecret(params.name, params.secret, body.value),
    }),
    operatorRoute("POST /api/tools/{name}/secrets/{secret}/share", {
      summary:
        "Let a tool use a secret that was given to another tool, version or host, as `shares` of its setup asks",
      status: 204,
      refusals: missing,
      handle: ({ params }) => admin().shareSecret(params.name, params.secret),
    }),
    operatorRoute("POST /api/tools/{name}/sign-in", {
      summary: "Start signing in for a tool: send the browser to `url`",
      answer: Type.Object({ url: Type.String() }),
      refusals: { 400: "The tool does not sign in this way", ...missing },
      handle: ({ params, context }) => beginSignIn(params.name, context),
    }),
    route("GET /api/tools/{name}/own/setup", {
      summary: "Get what a tool needs before it works for you, and what of it is your own",
      answer: ToolSetup,
      refusals: missing,
      handle: ({ user, params }) => admin().setup(params.name, user.id),
    }),
    route("PUT /api/tools/{name}/own/settings/{setting}", {
      summary:
        "Give a setting of a tool a value for your calls alone; an empty one is that of all users again",
      body: Type.Object({ value: Type.String({ maxLength: 2000 }) }),
      answer: Type.Object({ saved: Type.Boolean() }),
      refusals: {
        400: "There is no such setting, or the value is not of its format",
        403: "It is a private address, which only the operator can allow",
        ...missing,
      },
      async handle({ user, params, body }) {
        const { saved } = await offered(admin().setSetting)(
          ...([params.name, params.setting, body.value, false, user.id] as const),
        );
        return { saved };
      },
    }),
    route("PUT /api/tools/{name}/own/secrets/{secret}", {
      summary: "Set a secret of a tool for your calls alone; it is stored encrypted and never shown again",
      body: Type.Object({ value: Type.String({ minLength: 1, maxLength: 4096 }) }),
      answer: Type.Object({
        warning: Type.Optional(
          Type.String({ description: "The value is stored, but too short to be hidden" }),
        ),
      }),
      refusals: {
        400: "The tool has no such secret, the value is too long, or you have 20 secrets of your own",
        ...missing,
      },
      handle: ({ user, params, body }) => admin().setSecret(params.name, params.secret, body.value, user.id),
    }),
    route("DELETE /api/tools/{name}/own/secrets/{secret}", {
      summary: "Delete your own secret of a tool",
      status: 204,
      refusals: { 404: "There is no such tool, or no secret of your own" },
      async handle({ user, params: { name, secret } }) {
        if (!(await offered(admin().removeSecret)(name, secret, user.id)))
          throw missingFault("secret_not_found", `You have no secret ${secret} of your own.`, "secret");
      },
    }),
    route("POST /api/tools/{name}/own/secrets/{secret}/share", {
      summary: "Let this version of a tool use your own secret, as `shares` of its setup asks",
      status: 204,
      refusals: missing,
      handle: ({ user, params }) => admin().shareSecret(params.name, params.secret, user.id),
    }),
    route("POST /api/tools/{name}/own/sign-in", {
      summary: "Start signing in to a tool for your calls alone: send the browser to `url`",
      answer: Type.Object({ url: Type.String() }),
      refusals: { 400: "The tool does not sign in this way", ...missing },
      handle: ({ user, params, context }) => beginSignIn(params.name, context, user.id),
    }),
    route(`GET ${CALLBACK_PATH}`, {
      summary: "Receive the browser back from a provider; `state` says which sign-in it belongs to",
      audience: "anyone",
      answer: "text/plain",
      refusals: {
        400: "No sign-in with this `state` was started here",
        403: "It is a user's own sign-in, and was started in another browser",
      },
      async handle({ context }) {
        context.type = "text/plain";
        const redirected = URL.parse(context.search, callbackOn(web, context));
        if (redirected === null) return context.throw(400);
        const { tool } = await admin().finishSignIn(redirected, { began: isMarked(context, redirected) });
        return `${tool} is signed in. You can close this window.\n`;
      },
    }),
    route(`GET ${CLIENT_PATH}`, {
      summary:
        "Describe this service to the authorization servers of MCP servers; its address is the client id",
      audience: "anyone",
      answer: Type.Record(Type.String(), Type.Unknown()),
      handle: ({ context }) => admin().clientDocument(callbackOn(web, context)),
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
