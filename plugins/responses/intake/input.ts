/** What `input` asks of the agent: a message, perhaps with a history of its own, or the output of a pending call. */
import type { TurnItem } from "../../../kernel/plugin.ts";
import type { OutputItem } from "../answer/wire.ts";
import { invalid } from "../refusal.ts";
import { type InputItem, parseItem, type SaidItem } from "./items.ts";

export type Ask =
  | {
      readonly type: "message";
      /** Empty where the history ends with the output of a call, which is what the model answers. */
      readonly text: string;
      /** Words of the system or developer roles that came with the message. */
      readonly instructions: readonly string[];
      readonly history: readonly TurnItem[];
    }
  | { readonly type: "resume"; readonly outputs: readonly CallOutput[] };

export interface CallOutput {
  readonly call: string;
  readonly output: string;
}

export interface InputRules {
  /** The request has a `previous_response_id`. */
  readonly continues: boolean;
  /** Clients may replay a whole tool loop as the history of a new thread. */
  readonly replay: boolean;
  /** The output item of an earlier response of this user. */
  resolve(id: string): Promise<OutputItem | undefined>;
}

export interface Input {
  readonly ask: Ask;
  /** What was sent, references resolved, as the listing of input items shows it. */
  readonly items: readonly SaidItem[];
}

/** The items of a request, each by itself. */
export function parseItems(value: unknown): readonly InputItem[] {
  if (typeof value === "string") return [{ type: "message", role: "user", text: value }];
  if (Array.isArray(value)) return value.map((item, index) => parseItem(item, `input[${index}]`));
  if (value === undefined || value === null) throw nothing();
  throw invalid("input", "invalid_input", '"input" must be a text or an array of items.');
}

export async function readInput(given: readonly InputItem[], rules: InputRules): Promise<Input> {
  const outputs = given.filter((item) => item.type === "function_call_output");
  if (outputs.length > 0 && rules.continues) {
    refuseMixture(given);
    return { ask: { type: "resume", outputs }, items: outputs };
  }
  const items = await resolveAll(given, rules);
  if (outputs.length > 0 && !(rules.replay && isReplay(items))) {
    throw invalid(
      "previous_response_id",
      "previous_response_id_required",
      '"previous_response_id" is required with function_call_output items: it names the response whose call they answer.',
    );
  }
  return { ask: messageOf(items, rules.continues), items };
}

function refuseMixture(items: readonly InputItem[]): void {
  const other = items.findIndex(({ type }) => type !== "function_call_output");
  if (other === -1) return;
  throw invalid(
    `input[${other}]`,
    "mixed_input",
    `"input[${other}]" cannot be combined with function_call_output items. Send the outputs first, then the rest in a new request.`,
  );
}

// Each is looked up, and stands for as much as an answer may be long: a small request must not become a huge one.
const MOST_REFERENCES = 1000;
const MOST_REFERRED = 14 * 1024 * 1024;
const LOOKED_UP_TOGETHER = 16;

async function resolveAll(
  given: readonly InputItem[],
  { resolve }: InputRules,
): Promise<readonly SaidItem[]> {
  const items: SaidItem[] = [];
  let references = 0;
  let characters = 0;
  for (let from = 0; from < given.length; from += LOOKED_UP_TOGETHER) {
    const some = given.slice(from, from + LOOKED_UP_TOGETHER);
    const found = await Promise.all(
      some.map((item) => (item.type === "item_reference" ? resolve(item.id) : undefined)),
    );
    for (const [at, item] of some.entries()) {
      if (item.type === "skipped") continue;
      if (item.type !== "item_reference") {
        items.push(item);
        continue;
      }
      const said = asSaid(found[at]);
      characters += said === undefined ? 0 : JSON.stringify(said).length;
      if (++references > MOST_REFERENCES || characters > MOST_REFERRED) throw tooMany(from + at);
      if (said !== undefined) items.push(said);
    }
  }
  return items;
}

const tooMany = (index: number) =>
  invalid(
    `input[${index}]`,
    "too_many_references",
    `"input[${index}]" is one reference too many: a request may have ${MOST_REFERENCES}, which stand for at most ${MOST_REFERRED} characters together.`,
  );

function asSaid(item: OutputItem | undefined): SaidItem | undefined {
  if (item?.type === "message")
    return { type: "message", role: "assistant", text: item.content.map(({ text }) => text).join("") };
  if (item?.type !== "function_call") return undefined;
  return { type: "function_call", call: item.call_id, name: item.name, params: item.arguments };
}

/** Every output has its call earlier in the same array: this is no resume but a history. */
function isReplay(items: readonly SaidItem[]): boolean {
  const calls = new Set<string>();
  for (const item of items) {
    if (item.type === "function_call") calls.add(item.call);
    if (item.type === "function_call_output" && !calls.has(item.call)) return false;
  }
  return true;
}

/** What follows the last word of the assistant is the message; what came before it is history. */
function messageOf(items: readonly SaidItem[], continues: boolean): Ask {
  const start = items.findLastIndex((item) => !isRequest(item)) + 1;
  const asked = items.slice(start).filter((item) => item.type === "message");
  const text = joined(asked.filter(({ role }) => role === "user"));
  const instructions = asked.filter(({ role }) => role !== "user").map((item) => item.text);
  // A continued thread has its own history: what the caller repeats of it is not stored twice.
  const history = continues ? [] : items.slice(0, start).map(historyItem);
  if (text === "" && history.at(-1)?.type !== "tool_result") throw nothing();
  return { type: "message", text, instructions, history };
}

const isRequest = (item: SaidItem): boolean => item.type === "message" && item.role !== "assistant";

const joined = (messages: readonly { readonly text: string }[]): string =>
  messages
    .map(({ text }) => text)
    .filter((text) => text.trim() !== "")
    .join("\n\n");

// The store gives items ids of its own.
function historyItem(item: SaidItem): TurnItem {
  switch (item.type) {
    case "message": {
      const role = item.role === "developer" ? "system" : item.role;
      return { type: "message", id: "", role, text: item.text };
    }
    case "function_call": {
      const call = { id: item.call, name: item.name, params: item.params };
      return { type: "tool_call", id: "", call, external: true };
    }
    case "function_call_output":
      return { type: "tool_result", id: "", call: item.call, outcome: { status: "ok", output: item.output } };
  }
}

const nothing = () =>
  invalid(
    "input",
    "input_required",
    '"input" must say something: a text, or an array of items with a user message.',
  );
