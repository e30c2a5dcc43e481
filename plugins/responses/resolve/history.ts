/** Reads the past: the items that a turn put out, and the whole input of requests that replay others. */
import type { Services, ToolCall, TurnItem, TurnRecord } from "../../../kernel/plugin.ts";
import type { GivenItem, KeptItem } from "../parse/items.ts";
import type { Requests, TakenRequest } from "../stored/requests.ts";
import type { WireTool } from "../wire/format.ts";
import { parseResponseId } from "../wire/id.ts";
import { calledTool, customInput, customParams } from "../wire/tool-names.ts";
import { addTexts } from "./attachments.ts";

/** An empty message is no output. */
export const isSaid = (item: TurnItem): item is Extract<TurnItem, { type: "message" }> =>
  item.type === "message" && item.role === "assistant" && item.text !== "";

export const isThought = (item: TurnItem): item is Extract<TurnItem, { type: "reasoning" }> =>
  item.type === "reasoning" && item.text !== "";

/** The calls whose outputs the caller is to send. */
export const callsOf = ({ gate }: TurnRecord): readonly ToolCall[] =>
  gate?.type === "external_tool" ? [gate.call, ...(gate.others ?? [])] : [];

/** The output of a turn as a caller sends it back. */
export function outputItems(record: TurnRecord, tools: readonly WireTool[]) {
  const said = record.items
    .filter(isSaid)
    .map(({ text }) => ({ type: "message", role: "assistant", text }) as const);
  const calls = callsOf(record).map(({ id, name, params }) => {
    const isCustom = calledTool(tools, name).type === "custom";
    const given = isCustom ? customParams(customInput(params)) : params;
    return { type: "function_call", call: id, name, params: given } as const;
  });
  return [...said, ...calls] satisfies readonly GivenItem[];
}

/** An item with the place where it was first said. */
export interface PlacedItem {
  readonly item: KeptItem;
  readonly turn: string;
  readonly from: "input" | "output";
  /** Its index in the input or the output of that turn. */
  readonly index: number;
  readonly tools: readonly WireTool[];
}

interface HistoryParts {
  readonly requests: Pick<Requests, "chainOf">;
  readonly threads: Pick<Services["threads"], "turn">;
}

const READS_AT_ONCE = 16;

export async function sentItems(taken: TakenRequest, parts: HistoryParts): Promise<readonly PlacedItem[]> {
  const { user, goesOn } = taken;
  const replayed = goesOn === undefined ? [] : await parts.requests.chainOf(user, goesOn);
  return [...(await saidIn(user, replayed, parts)), ...inputOf(taken)];
}

/** The conversation up to the end of this response, whether its requests replayed each other or named the previous one. */
export async function conversationOf(
  user: string,
  id: string,
  parts: HistoryParts,
): Promise<readonly KeptItem[]> {
  const all: PlacedItem[][] = [];
  for (let at: string | undefined = id; at !== undefined; ) {
    const rows: readonly TakenRequest[] = await parts.requests.chainOf(user, at);
    all.unshift(await saidIn(user, rows, parts));
    at = parseResponseId(rows[0]?.echo.previousResponseId ?? "")?.turn;
  }
  return all.flat().map(({ item }) => withoutBytes(item));
}

/** The bytes stay with the thread that they came to. */
function withoutBytes(item: KeptItem): KeptItem {
  if (!("attachments" in item) || !item.attachments?.length) return item;
  const { attachments, ...bare } = item;
  const notes = attachments.map(({ kind, name }) =>
    name === undefined ? `[${kind}]` : `[${kind}: ${name}]`,
  );
  return addTexts(bare, notes, "\n");
}

const inputOf = ({ id: turn, input, echo }: TakenRequest): PlacedItem[] =>
  input.map((item, index) => ({ item, turn, from: "input", index, tools: echo.tools }));

async function saidIn(
  user: string,
  rows: readonly TakenRequest[],
  { threads }: HistoryParts,
): Promise<PlacedItem[]> {
  const said: PlacedItem[] = [];
  for (let from = 0; from < rows.length; from += READS_AT_ONCE) {
    const some = rows.slice(from, from + READS_AT_ONCE);
    const records = await Promise.all(some.map(({ id }) => threads.turn(user, id)));
    for (const [at, row] of some.entries()) {
      const { tools } = row.echo;
      const record = records[at];
      said.push(...inputOf(row));
      const output = record ? outputItems(record, tools) : [];
      for (const [index, item] of output.entries())
        said.push({ item, turn: row.id, from: "output", index, tools });
    }
  }
  return said;
}
