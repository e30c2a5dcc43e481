/** A request as the turn that it asks for. */
import type { AttachedBytes, NewJob, Turn, TurnInput, TurnItem, User } from "../../../kernel/plugin.ts";
import type { KeptAttachment, SaidItem } from "../parse/items.ts";
import type { CreateRequest } from "../parse/request.ts";
import type { Ask } from "../resolve/ask.ts";
import { plainAttachment } from "../resolve/attachments.ts";
import { offerTools } from "../wire/tool-names.ts";

export const CHANNEL = "responses";

/** Where a request goes on: the thread, and the turn of it. */
export interface Place {
  readonly thread: string;
  readonly after: string | undefined;
}

export interface Asked {
  readonly ask: Ask;
  readonly place: Place | undefined;
  readonly attached: readonly AttachedBytes[];
  /** Instructions that the thread does not have yet. */
  readonly instructions: readonly string[];
  /** Instructions of this request only. */
  readonly once: readonly string[];
  readonly isReplay: boolean;
}

export function turnOf(user: User, request: CreateRequest, asked: Asked): Turn {
  const { tools, settings } = request;
  const { ask, place, attached } = asked;
  const { history, instructions } = withInstructions(asked);
  const once = joined(asked.once);
  return {
    user: user.id,
    channel: CHANNEL,
    input: inputOf(ask, request),
    ...settings,
    // Followed by a stream, perhaps by a second one that goes on where the first broke off.
    ...((request.stream || request.background) && { keepsPieces: true }),
    ...(user.scope && { scope: user.scope }),
    ...(place && { thread: place.thread }),
    ...(place?.after !== undefined && { after: place.after }),
    ...(instructions !== "" && { instructions }),
    ...(once !== "" && { instructionsOnce: once }),
    ...(tools !== undefined && { tools: offerTools(tools).map(({ offer }) => offer) }),
    ...(history.length > 0 && { history }),
    ...(attached.length > 0 && { attached }),
    ...((asked.isReplay || history.length > 0) && { isReplay: true }),
    ...(!request.store && { ephemeral: true }),
  };
}

/** The same turn as a job, which outlives the process that took it. */
export function jobOf({ user, channel, id: _, ephemeral: __, attached, ...turn }: Turn): NewJob {
  const { input } = turn;
  const message = input.type === "message" ? input.text : "";
  const bytes = attached?.map(({ id, data }) => ({ id, base64: Buffer.from(data).toString("base64") }));
  return { user, channel, message, turn: { ...turn, ...(bytes && { attached: bytes }) } };
}

function withInstructions({ ask, instructions: given }: Asked): {
  readonly history: readonly TurnItem[];
  readonly instructions: string;
} {
  const history = ask.history.map(historyItem);
  const instructions = joined([...given, ...ask.instructions]);
  const isMessage = ask.outputs.length === 0;
  const standsAlone = instructions !== "" && isMessage && ask.text === "" && ask.attachments.length === 0;
  if (!standsAlone) return { history, instructions };
  // A replay that ends with a call's output has no message for the instructions to stand before.
  const system: TurnItem = { type: "message", id: "", role: "system", text: instructions };
  return { history: [system, ...history], instructions: "" };
}

function inputOf({ outputs, text, attachments }: Ask, { door }: CreateRequest): TurnInput {
  const beside = { ...(attachments.length > 0 && { attachments: attachments.map(plainAttachment) }) };
  const [first] = outputs;
  if (first === undefined) return { type: "message", text, ...beside };
  if (door === "strict" && outputs.length === 1 && text === "")
    return { type: "tool_output", call: first.call, output: first.output };
  return {
    type: "tool_outputs",
    outputs: outputs.map(({ call, output, attachments: given }) => ({
      call,
      output,
      ...attachedTo(given),
    })),
    ...(text !== "" && { text }),
    ...beside,
  };
}

// The store gives items ids of its own.
function historyItem(item: SaidItem): TurnItem {
  switch (item.type) {
    case "message": {
      const role = item.role === "developer" ? "system" : item.role;
      const origins = item.isSummary && { origins: [{ kind: "caller", name: "summary" } as const] };
      return { type: "message", id: "", role, text: item.text, ...attachedTo(item.attachments), ...origins };
    }
    case "function_call": {
      const call = { id: item.call, name: item.name, params: item.params };
      return { type: "tool_call", id: "", call, external: true };
    }
    case "function_call_output":
      return {
        type: "tool_result",
        id: "",
        call: item.call,
        outcome: { status: "ok", output: item.output },
        ...attachedTo(item.attachments),
      };
    case "reasoning":
      return { type: "reasoning", id: "", text: item.text };
  }
}

const attachedTo = (attachments: readonly KeptAttachment[] | undefined) =>
  attachments?.length ? { attachments: attachments.map(plainAttachment) } : {};

const joined = (texts: readonly string[]): string => texts.filter((text) => text !== "").join("\n\n");
