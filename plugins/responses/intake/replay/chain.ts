/** All that a request said: what it repeats of the requests it goes on from, their outputs, and what is new in it. */
import type { Services } from "../../../../kernel/plugin.ts";
import { parseResponseId } from "../../answer/id.ts";
import type { WireTool } from "../../answer/wire.ts";
import type { SaidItem } from "../items.ts";
import type { Requests, TakenRequest } from "../requests.ts";
import { outputItems } from "./match.ts";

/** An item with where it was said first. */
export interface Placed {
  readonly item: SaidItem;
  readonly turn: string;
  readonly from: "input" | "output";
  /** Its place in the input or the output of that turn. */
  readonly index: number;
  /** The tools of that request. */
  readonly tools: readonly WireTool[];
}

export interface ChainParts {
  readonly requests: Pick<Requests, "chainOf">;
  readonly threads: Pick<Services["threads"], "turn">;
}

const READ_TOGETHER = 16;

/** The whole input of a request, as it was sent. */
export async function sentItems(
  { user, id, goesOn, input, echo }: TakenRequest,
  parts: ChainParts,
): Promise<readonly Placed[]> {
  const own = input.map(
    (item, index): Placed => ({ item, turn: id, from: "input", index, tools: echo.tools }),
  );
  return goesOn === undefined ? own : [...(await saidIn(user, goesOn, parts)), ...own];
}

/** The conversation up to the end of this response, however its requests told where they go on. */
export async function conversationOf(
  user: string,
  id: string,
  parts: ChainParts,
): Promise<readonly SaidItem[]> {
  const all: Placed[][] = [];
  for (let at: string | undefined = id; at !== undefined; ) {
    const rows: readonly TakenRequest[] = await parts.requests.chainOf(user, at);
    all.unshift(await saidInRows(user, rows, parts));
    const earlier = rows[0]?.echo.previousResponseId ?? undefined;
    at = earlier === undefined ? undefined : parseResponseId(earlier)?.turn;
  }
  return all.flat().map(({ item }) => withoutBytes(item));
}

/** The bytes stay with the thread that they came to. */
function withoutBytes(item: SaidItem): SaidItem {
  if (!("attachments" in item) || !item.attachments?.length) return item;
  const { attachments, ...bare } = item;
  const words = attachments.map(({ kind, name }) =>
    name === undefined ? `[${kind}]` : `[${kind}: ${name}]`,
  );
  const join = (text: string) => [text, ...words].filter((part) => part !== "").join("\n");
  return bare.type === "message"
    ? { ...bare, text: join(bare.text) }
    : { ...bare, output: join(bare.output) };
}

const saidIn = async (user: string, id: string, parts: ChainParts): Promise<Placed[]> =>
  saidInRows(user, await parts.requests.chainOf(user, id), parts);

async function saidInRows(
  user: string,
  rows: readonly TakenRequest[],
  { threads }: ChainParts,
): Promise<Placed[]> {
  const said: Placed[] = [];
  for (let from = 0; from < rows.length; from += READ_TOGETHER) {
    const some = rows.slice(from, from + READ_TOGETHER);
    const records = await Promise.all(some.map(({ id }) => threads.turn(user, id)));
    for (const [at, { id: turn, input, echo }] of some.entries()) {
      const { tools } = echo;
      const record = records[at];
      const output = record ? (outputItems(record, tools) as readonly SaidItem[]) : [];
      for (const [index, item] of input.entries()) said.push({ item, turn, from: "input", index, tools });
      for (const [index, item] of output.entries()) said.push({ item, turn, from: "output", index, tools });
    }
  }
  return said;
}
