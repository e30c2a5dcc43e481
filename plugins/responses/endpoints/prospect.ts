/** A request as the turn it would be, for those who only count or condense it. */
import type { Turn, TurnItem, User } from "../../../kernel/plugin.ts";
import type { GivenItem } from "../parse/items.ts";
import { previousNotFound } from "../parse/refusals.ts";
import type { CreateRequest } from "../parse/request.ts";
import { resolveItems } from "../resolve/ask.ts";
import type { Requests } from "../stored/requests.ts";
import type { Seals } from "../stored/seals.ts";
import { CHANNEL, type ConversationPlace } from "../turn/intake.ts";
import { offerTools } from "../wire/tool-names.ts";

export interface ProspectParts {
  readonly requests: Requests;
  readonly unseal: Seals["unseal"];
}

/** All items are history: which of them is the message makes no difference here. */
export async function prospectOf(
  { requests, unseal }: ProspectParts,
  user: User,
  request: CreateRequest,
  place?: ConversationPlace,
): Promise<Turn> {
  const { previous, instructions, tools } = request;
  if (previous !== undefined && (await requests.find(user.id, previous.turn))?.thread !== previous.thread)
    throw previousNotFound();
  const items = await resolveItems(request.items, {
    // A reference is to an item of a response, which is named by that.
    resolve: async () => undefined,
    unseal: (kind, sealed) => unseal(user.id, kind, sealed),
  });
  const thread = previous?.thread ?? place?.thread;
  const after = previous?.turn ?? place?.after;
  return {
    ...{ user: user.id, channel: CHANNEL, input: { type: "message", text: "" } },
    ...{ history: items.flatMap(historyItem), callersToolsWin: true },
    ...(user.scope && { scope: user.scope }),
    ...(thread !== undefined && { thread }),
    ...(after !== undefined && { after }),
    ...(instructions !== undefined && { instructionsOnce: instructions }),
    ...(tools !== undefined && { tools: offerTools(tools).map(({ offer }) => offer) }),
  };
}

function historyItem(item: GivenItem): readonly TurnItem[] {
  switch (item.type) {
    case "message": {
      const role = item.role === "developer" ? "system" : item.role;
      return [{ type: "message", id: "", role, text: item.text }];
    }
    case "function_call": {
      const call = { id: item.call, name: item.name, params: item.params };
      return [{ type: "tool_call", id: "", call, external: true }];
    }
    case "function_call_output":
      return [
        { type: "tool_result", id: "", call: item.call, outcome: { status: "ok", output: item.output } },
      ];
    default:
      return [];
  }
}
