/** A resolved request as the agent's turn. */
import type { TurnInput, TurnItem, User } from "../../../kernel/plugin.ts";
import type { Turn } from "../../agent/services.ts";
import type { NewJob } from "../../jobs/services.ts";
import type { KeptAttachment, SaidItem } from "../parse/items.ts";
import type { CreateRequest } from "../parse/request.ts";
import type { Ask } from "../resolve/ask.ts";
import { plainAttachment } from "../resolve/attachments.ts";
import type { Resolved } from "../resolve/resolve.ts";
import { offerTools } from "../wire/tool-names.ts";

export const CHANNEL = "responses";

export function turnOf(user: User, request: CreateRequest, resolved: Resolved): Turn {
  const { tools, context, settings } = request;
  const { ask, place, attached } = resolved;
  const { history, instructions } = withInstructions(resolved);
  return {
    user: user.id,
    channel: CHANNEL,
    input: inputOf(ask, request),
    scope: user.scope,
    thread: place?.thread,
    after: place?.after,
    preamble: {
      context,
      instructions: instructions || undefined,
      instructionsOnce: joined(resolved.once) || undefined,
      history: history.length > 0 ? history : undefined,
      isReplay: resolved.isReplay || history.length > 0 || undefined,
    },
    answer: { ...settings, tools: tools && offerTools(tools).map(({ offer }) => offer) },
    attached: attached.length > 0 ? attached : undefined,
    keeping: {
      // A second stream may continue where the first broke off, in the same pieces.
      keepsPieces: request.stream || request.background || undefined,
      ephemeral: request.store ? undefined : true,
    },
  };
}

/** The same turn as a job, which outlives the process that took it. */
export function jobOf({ user, channel, id: _, attached, keeping, ...turn }: Turn): NewJob {
  const { input } = turn;
  const message = input.type === "message" ? input.text : "";
  const bytes = attached?.map(({ id, data }) => ({ id, base64: Buffer.from(data).toString("base64") }));
  const kept = { ...keeping, ephemeral: undefined };
  return { user, channel, message, turn: { ...turn, keeping: kept, attached: bytes } };
}

function withInstructions({ ask, instructions: given }: Resolved) {
  const history = joinMessages(ask.history).map(historyItem);
  const instructions = joined([...given, ...ask.instructions]);
  const isMessage = ask.outputs.length === 0;
  const standsAlone = instructions !== "" && isMessage && ask.text === "" && ask.attachments.length === 0;
  if (!standsAlone) return { history, instructions };
  // A replay that ends with a call's output has no message for the instructions to stand before.
  const system: TurnItem = { type: "message", id: "", role: "system", text: instructions };
  return { history: [system, ...history], instructions: "" };
}

/** A user's messages in a row are one, so a replay shows them as one too: the prompt begins like the one before it. */
function joinMessages(items: readonly SaidItem[]): readonly SaidItem[] {
  const history: SaidItem[] = [];
  let row: Said[] = [];
  for (const item of items) {
    if (isWords(item)) row.push(item);
    else {
      history.push(...joinRow(row), item);
      row = [];
    }
  }
  return [...history, ...joinRow(row)];
}

/** All at once: joined one by one, ten thousand of them would be copied ten thousand times. */
function joinRow(row: readonly Said[]): readonly Said[] {
  const [first, second] = row;
  if (first === undefined || second === undefined) return row;
  const text = joined(row.map((message) => message.text));
  return [{ ...first, text, attachments: row.flatMap(({ attachments }) => attachments ?? []) }];
}

type Said = Extract<SaidItem, { type: "message" }>;

const isWords = (item: SaidItem): item is Said =>
  item.type === "message" && item.role === "user" && !item.isSummary;

/** The contract suite of channels compares inputs key by key, so an absent field is no key. */
function inputOf({ outputs, text, attachments }: Ask, { dialect }: CreateRequest): TurnInput {
  const [first] = outputs;
  if (first === undefined) return { type: "message", text, ...attachedTo(attachments) };
  if (dialect === "strict" && outputs.length === 1 && text === "")
    return { type: "tool_output", call: first.call, output: first.output };
  return {
    type: "tool_outputs",
    outputs: outputs.map(({ call, output, attachments: own }) => ({ call, output, ...attachedTo(own) })),
    ...(text !== "" && { text }),
    ...attachedTo(attachments),
  };
}

/** The store gives items ids of its own. */
export function historyItem(item: SaidItem): TurnItem {
  const id = "";
  switch (item.type) {
    case "message": {
      const role = item.role === "developer" ? "system" : item.role;
      const origins = item.isSummary && [{ kind: "caller", name: "summary" } as const];
      return { type: "message", id, role, text: item.text, ...attachedTo(item.attachments), origins };
    }
    case "function_call": {
      const call = { id: item.call, name: item.name, params: item.params };
      return { type: "tool_call", id, call, external: true };
    }
    case "function_call_output": {
      const outcome = { status: "ok", output: item.output } as const;
      return { type: "tool_result", id, call: item.call, outcome, ...attachedTo(item.attachments) };
    }
    case "reasoning":
      return { type: "reasoning", id, text: item.text };
  }
}

const attachedTo = (given: readonly KeptAttachment[] | undefined) =>
  given?.length ? { attachments: given.map(plainAttachment) } : {};

const joined = (texts: readonly string[]): string => texts.filter((text) => text.trim() !== "").join("\n\n");
