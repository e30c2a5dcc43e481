/** Ids on the wire. A response's holds its turn's and its thread's; an item's holds the turn and its place in the output. */
export interface ResponseId {
  readonly turn: string;
  readonly thread: string;
}

const RESPONSE = /^resp_([0-9a-f]{32})([0-9a-f]{32})$/;
const ITEM = /^(?:msg|fc|ctc)_([0-9a-f]{32})([0-9a-f]{4})$/;

export function formatResponseId({ turn, thread }: ResponseId): string {
  return `resp_${hex(turn)}${hex(thread)}`;
}

export function parseResponseId(text: string): ResponseId | undefined {
  const [, turn, thread] = RESPONSE.exec(text) ?? [];
  return turn === undefined || thread === undefined ? undefined : { turn: uuid(turn), thread: uuid(thread) };
}

export function formatItemId(kind: "msg" | "fc" | "ctc" | "rs", turn: string, index: number): string {
  return `${kind}_${hex(turn)}${index.toString(16).padStart(4, "0")}`;
}

export function parseItemId(text: string): { readonly turn: string; readonly index: number } | undefined {
  const [, turn, index] = ITEM.exec(text) ?? [];
  return turn === undefined || index === undefined
    ? undefined
    : { turn: uuid(turn), index: Number.parseInt(index, 16) };
}

const hex = (id: string): string => id.replaceAll("-", "");

const uuid = (digits: string): string =>
  digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
