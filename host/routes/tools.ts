/** The installed tools, as everybody may see them, and the receipts of their calls. */

import { missingFault, pageQuery, type Route, routesOf } from "../../kernel/kit/http.ts";
import { nullable, Type } from "../../kernel/kit/schema.ts";
import { ToolInfo } from "../../kernel/kit/tools.ts";
import type { Services, User } from "../../kernel/plugin.ts";
import { ToolLimits, ToolReceipt } from "../wire.ts";

const route = routesOf("tools");

export function toolRoutes({
  tools,
  toolAdmin,
}: Partial<Pick<Services, "tools" | "toolAdmin">>): readonly Route[] {
  const all = async (user: User) => (await tools?.list(user.id)) ?? [];
  return [
    route("GET /api/tools", {
      summary: "List the installed tools, with what each may do in words",
      answer: Type.Object({ tools: Type.Array(ToolInfo) }),
      scoped: true,
      handle: async ({ user }) => ({ tools: await all(user) }),
    }),
    route("GET /api/tools/{name}", {
      summary: "Get a tool",
      answer: ToolInfo,
      refusals: { 404: "There is no such tool" },
      scoped: true,
      async handle({ user, params }) {
        const found = (await all(user)).find(({ name }) => name === params.name);
        if (!found) throw missingFault("tool_not_found", `There is no tool ${params.name}.`, "name");
        return found;
      },
    }),
    route("GET /api/tools/{name}/limits", {
      summary: "Get what you have left of a tool's rate limit; null if it may not use the network",
      answer: Type.Object({ limits: nullable(ToolLimits) }),
      refusals: { 404: "There is no such tool" },
      scoped: true,
      async handle({ user, params }) {
        const limits = await toolAdmin?.limits(params.name, user.id);
        return limits ? { limits } : {};
      },
    }),
  ];
}

/** Receipts of calls. A user sees their own, an operator all. */
export function receiptRoutes({ toolAdmin }: Partial<Pick<Services, "toolAdmin">>): readonly Route[] {
  const isSeenBy = (user: User, owner: string) => user.role === "operator" || owner === user.id;
  return [
    route("GET /api/receipts", {
      summary: "List the receipts of tool calls, newest first",
      query: Type.Object({ tool: Type.Optional(Type.String()), limit: pageQuery.limit }),
      answer: Type.Object({ receipts: Type.Array(ToolReceipt) }),
      scoped: true,
      async handle({ user, query }) {
        const asked = user.role === "operator" ? query : { ...query, user: user.id };
        return { receipts: (await toolAdmin?.receipts(asked)) ?? [] };
      },
    }),
    route("GET /api/receipts/{id}", {
      summary: "Get the receipt of a tool call",
      answer: ToolReceipt,
      refusals: { 404: "There is no such receipt" },
      scoped: true,
      async handle({ user, params }) {
        const receipt = await toolAdmin?.receipt(params.id);
        if (!receipt || !isSeenBy(user, receipt.user))
          throw missingFault("receipt_not_found", `There is no receipt ${params.id}.`, "id");
        return receipt;
      },
    }),
  ];
}
