/** What tools did, as the host saw it. A user sees their own calls, an operator all. */

import { type ToolAdmin, ToolReceipt, Type } from "../../../../kernel/kit.ts";
import { Fault, type User } from "../../../../kernel/plugin.ts";
import { pageQuery } from "../../api/schemas.ts";
import { type Route, route } from "../../route.ts";

export function receiptRoutes(admin: ToolAdmin | undefined): readonly Route[] {
  const isSeenBy = (user: User, owner: string) => user.role === "operator" || owner === user.id;
  return [
    route({
      method: "get",
      path: "/api/receipts",
      tag: "tools",
      summary: "List the receipts of tool calls, newest first",
      query: Type.Object({ tool: Type.Optional(Type.String()), limit: pageQuery.limit }),
      answer: Type.Object({ receipts: Type.Array(ToolReceipt) }),
      async handle({ user, query }) {
        const asked = user.role === "operator" ? query : { ...query, user: user.id };
        return { receipts: (await admin?.receipts(asked)) ?? [] };
      },
    }),
    route({
      method: "get",
      path: "/api/receipts/{id}",
      tag: "tools",
      summary: "Get the receipt of a tool call",
      answer: ToolReceipt,
      refusals: { 404: "There is no such receipt" },
      async handle({ user, params }) {
        const receipt = await admin?.receipt(params["id"] ?? "");
        if (!receipt || !isSeenBy(user, receipt.user))
          throw new Fault("missing", "receipt_not_found", `There is no receipt ${params["id"]}.`, {
            param: "id",
          });
        return receipt;
      },
    }),
  ];
}
