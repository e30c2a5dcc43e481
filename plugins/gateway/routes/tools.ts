/** The installed tools, as everybody may see them. */
import { Fault, type ToolAdmin, type Tools } from "../../../kernel/plugin.ts";
import { list, object, ref, whole } from "../api/schemas.ts";
import { toolJson } from "../api/wire.ts";
import { type Route, route } from "../route.ts";

export function toolRoutes(tools: Tools | undefined, admin: ToolAdmin | undefined): readonly Route[] {
  const all = async () => (await tools?.list()) ?? [];
  return [
    route({
      method: "get",
      path: "/api/tools",
      tag: "tools",
      summary: "Installed tools, with what each may do in words",
      answer: object({ tools: list(ref("Tool")) }),
      handle: async () => ({ tools: (await all()).map(toolJson) }),
    }),
    route({
      method: "get",
      path: "/api/tools/{name}",
      tag: "tools",
      summary: "One tool",
      answer: ref("Tool"),
      refusals: { 404: "There is no such tool" },
      async handle({ params }) {
        const found = (await all()).find(({ name }) => name === params["name"]);
        if (!found)
          throw new Fault("missing", "tool_not_found", `There is no tool ${params["name"]}.`, {
            param: "name",
          });
        return toolJson(found);
      },
    }),
    route({
      method: "get",
      path: "/api/tools/{name}/limits",
      tag: "tools",
      summary: "What you have left of the tool's rate limit; null where it may not use the network",
      answer: object({
        limits: {
          ...object({ limit: whole, remaining: whole, reset_secs: whole }),
          type: ["object", "null"],
        },
      }),
      refusals: { 404: "There is no such tool" },
      async handle({ user, params }) {
        const limits = await admin?.limits(params["name"] ?? "", user.id);
        if (!limits) return { limits: null };
        const { limit, remaining, resetSecs } = limits;
        return { limits: { limit, remaining, reset_secs: resetSecs } };
      },
    }),
  ];
}
