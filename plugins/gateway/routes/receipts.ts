/** What tools did, as the host saw it. A user sees their own calls, an operator all. */
import { Fault, type ToolAdmin, type User } from "../../../kernel/plugin.ts";
import { list, object, ref, text } from "../api/schemas.ts";
import { receiptJson } from "../api/wire.ts";
import { type Route, route } from "../route.ts";

export function receiptRoutes(admin: ToolAdmin | undefined): readonly Route[] {
  const isSeenBy = (user: User, owner: string) => user.role === "operator" || owner === user.id;
  return [
    route<unknown, { tool?: string; limit?: number }>({
      method: "get",
      path: "/api/receipts",
      tag: "tools",
      summary: "Receipts of tool calls, newest first",
      query: { tool: text, limit: { type: "integer", minimum: 1, maximum: 200 } },
      answer: object({ receipts: list(ref("Receipt")) }),
      async handle({ user, query }) {
        const asked = user.role === "operator" ? query : { ...query, user: user.id };
        return { receipts: ((await admin?.receipts(asked)) ?? []).map(receiptJson) };
      },
    }),
    route({
      method: "get",
      path: "/api/receipts/{id}",
      tag: "tools",
      summary: "The receipt of one call",
      answer: ref("Receipt"),
      refusals: { 404: "There is no such receipt" },
      async handle({ user, params }) {
        const receipt = await admin?.receipt(params["id"] ?? "");
        if (!receipt || !isSeenBy(user, receipt.user))
          throw new Fault("missing", "receipt_not_found", `There is no receipt ${params["id"]}.`, {
            param: "id",
          });
        return receiptJson(receipt);
      },
    }),
  ];
}
