/** The installed tools, as everybody may see them. */

import { nullable, type ToolAdmin, ToolInfo, ToolLimits, type Tools, Type } from "../../../../kernel/kit.ts";
import { Fault } from "../../../../kernel/plugin.ts";
import { type Route, route } from "../../route.ts";

export function toolRoutes(tools: Tools | undefined, admin: ToolAdmin | undefined): readonly Route[] {
  const all = async () => (await tools?.list()) ?? [];
  return [
    route({
      method: "get",
      path: "/api/tools",
      tag: "tools",
      summary: "List the installed tools, with what each may do in words",
      answer: Type.Object({ tools: Type.Array(ToolInfo) }),
      handle: async () => ({ tools: await all() }),
    }),
    route({
      method: "get",
      path: "/api/tools/{name}",
      tag: "tools",
      summary: "Get a tool",
      answer: ToolInfo,
      refusals: { 404: "There is no such tool" },
      async handle({ params }) {
        const found = (await all()).find(({ name }) => name === params["name"]);
        if (!found)
          throw new Fault("missing", "tool_not_found", `There is no tool ${params["name"]}.`, {
            param: "name",
          });
        return found;
      },
    }),
    route({
      method: "get",
      path: "/api/tools/{name}/limits",
      tag: "tools",
      summary: "Get what you have left of a tool's rate limit; null if it may not use the network",
      answer: Type.Object({ limits: nullable(ToolLimits) }),
      refusals: { 404: "There is no such tool" },
      async handle({ user, params }) {
        const limits = await admin?.limits(params["name"] ?? "", user.id);
        return limits ? { limits } : {};
      },
    }),
  ];
}
