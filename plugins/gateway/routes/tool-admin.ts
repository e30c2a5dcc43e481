/** Installing, removing and setting up tools: the operator's. The grants are shown before anything happens. */
import type { Context } from "koa";
import type { Proxies } from "../../../kernel/net/proxies.ts";
import { Fault, type ToolAdmin, type ToolUpload } from "../../../kernel/plugin.ts";
import { object, ref, text } from "../api/schemas.ts";
import { proposalJson, setupJson, toolJson } from "../api/wire.ts";
import type { Form } from "../middleware/form.ts";
import { type Route, route } from "../route.ts";

const CALLBACK_PATH = "/oauth/callback";

const upload = {
  name: { type: "string" },
  component: { type: "string", format: "binary", description: "The WebAssembly component" },
  capabilities: { type: "string", description: "The capabilities file, as a file or as text" },
};

const missing = { 404: "There is no such tool" };

export function toolAdminRoutes(given: ToolAdmin | undefined, proxies: Proxies): readonly Route[] {
  const admin = (): ToolAdmin => {
    if (!given)
      throw new Fault(
        "unavailable",
        "no_tool_admin",
        "The tool host cannot be managed from here; use postern tool.",
      );
    return given;
  };
  const redirectUri = ({ req }: Context) =>
    `${proxies.isHttps(req) ? "https" : "http"}://${proxies.host(req)}${CALLBACK_PATH}`;

  return [
    route<Form>({
      method: "post",
      path: "/api/tools/examine",
      tag: "tools",
      summary: "Check a component and say in words what it may do; installs nothing",
      audience: "operator",
      form: upload,
      answer: ref("ToolProposal"),
      handle: async ({ body }) => proposalJson(await admin().examine(nameIn(body), uploadIn(body))),
    }),
    route<Form>({
      method: "post",
      path: "/api/tools",
      tag: "tools",
      summary: "Install a component; `replace` agrees to replace the tool of that name",
      audience: "operator",
      form: { ...upload, replace: { type: "string", enum: ["true", "false"] } },
      status: 201,
      answer: ref("Tool"),
      async handle({ body }) {
        const replace = body.text("replace") === "true";
        return toolJson(await admin().install(nameIn(body), uploadIn(body), { replace }));
      },
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
      method: "get",
      path: "/api/tools/{name}/setup",
      tag: "tools",
      summary: "What the tool has to be given before it works",
      audience: "operator",
      answer: ref("ToolSetup"),
      refusals: missing,
      handle: async ({ params }) => setupJson(await admin().setup(params["name"] ?? "")),
    }),
    route<{ value: string }>({
      method: "put",
      path: "/api/tools/{name}/secrets/{secret}",
      tag: "tools",
      summary: "Give the tool a secret; it is sealed and never shown again",
      audience: "operator",
      body: {
        type: "object",
        required: ["value"],
        properties: { value: { type: "string", minLength: 1, maxLength: 65_536 } },
      },
      status: 204,
      refusals: missing,
      handle: ({ params, body }) =>
        admin().setSecret(params["name"] ?? "", params["secret"] ?? "", body.value),
    }),
    route({
      method: "post",
      path: "/api/tools/{name}/sign-in",
      tag: "tools",
      summary: "Begin to sign in for the tool: send the browser to `url`",
      audience: "operator",
      answer: object({ url: text }),
      refusals: { 400: "The tool does not sign in this way", ...missing },
      handle: ({ params, context }) => admin().beginSignIn(params["name"] ?? "", redirectUri(context)),
    }),
    route({
      method: "get",
      path: CALLBACK_PATH,
      tag: "tools",
      summary: "Where a provider sends the browser back to; the `state` says which sign-in it answers",
      audience: "anyone",
      answer: "text/plain",
      refusals: { 400: "It answers no sign-in that was begun here" },
      async handle({ context }) {
        context.type = "text/plain";
        const redirected = URL.parse(context.search, redirectUri(context));
        if (redirected === null) return context.throw(400);
        const { tool } = await admin().finishSignIn(redirected);
        return `${tool} is signed in. You can close this window.\n`;
      },
    }),
  ];
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
