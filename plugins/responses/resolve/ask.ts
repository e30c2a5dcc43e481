/** What `input` asks of the agent: a message, the outputs of calls that wait, and what was said before. */
import type { Gate } from "../../../kernel/plugin.ts";
import { gateError, type PageOf } from "../answer/response.ts";
import {
  type GivenItem,
  type InputItem,
  type KeptAttachment,
  parseItem,
  type SaidItem,
} from "../parse/items.ts";
import type { SealedKind } from "../stored/seals.ts";
import type { WireError } from "../wire/format.ts";
import { invalid } from "../wire/refusal.ts";

export interface Ask {
  /** What was said before, as far as the thread does not have it. */
  readonly history: readonly SaidItem[];
  /** Answers to calls that the thread waits for. */
  readonly outputs: readonly CallOutput[];
  /** Empty where the last that was said is the output of a call, which is what the model answers. */
  readonly text: string;
  readonly attachments: readonly KeptAttachment[];
  /** Words of the system or developer roles that came with the message. */
  readonly instructions: readonly string[];
}

export type CallOutput = Extract<SaidItem, { type: "function_call_output" }>;

export interface ResolvingRules {
  /** The output item of an earlier response of this user. */
  resolve(id: string): Promise<GivenItem | undefined>;
  /** What this user was given to keep; undefined where it does not open. */
  unseal(kind: SealedKind, sealed: string): string | undefined;
}

type ParseItem = (item: unknown, at: string) => InputItem;

/** A body of the largest size could hold half a million, and be worked on for a minute while everybody else waits. */
export const MOST_ITEMS = 10_000;

export const tooManyItems = (param: string) =>
  invalid(param, "too_many_items", `"${param}" may have at most ${MOST_ITEMS} items.`);

/** The items of a request, each by itself. */
export function parseItems(value: unknown, parse: ParseItem = parseItem): readonly InputItem[] {
  if (typeof value === "string") return [{ type: "message", role: "user", text: value }];
  if (Array.isArray(value)) {
    if (value.length > MOST_ITEMS) throw tooManyItems("input");
    return value.map((item, index) => parse(item, `input[${index}]`));
  }
  if (value === undefined || value === null) throw nothing();
  throw invalid("input", "invalid_input", '"input" must be a text or an array of items.');
}

/** §3.2: a request that answers calls says nothing else. */
export function refuseMixture(items: readonly InputItem[]): void {
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

/** Follows references, opens what was sealed and drops what is of no use. */
export async function resolveItems(
  given: readonly InputItem[],
  { resolve, unseal }: ResolvingRules,
): Promise<readonly GivenItem[]> {
  const items: GivenItem[] = [];
  let references = 0;
  let characters = 0;
  for (let from = 0; from < given.length; from += LOOKED_UP_TOGETHER) {
    const some = given.slice(from, from + LOOKED_UP_TOGETHER);
    const found = await Promise.all(
      some.map((item) => (item.type === "item_reference" ? resolve(item.id) : undefined)),
    );
    for (const [at, item] of some.entries()) {
      if (item.type === "skipped") continue;
      if (item.type === "sealed") {
        const text = unseal(item.holds, item.sealed);
        if (text !== undefined) items.push(unsealed(item.holds, text));
        continue;
      }
      if (item.type !== "item_reference") {
        items.push(item);
        continue;
      }
      const said = found[at];
      characters += said === undefined ? 0 : JSON.stringify(said).length;
      if (++references > MOST_REFERENCES || characters > MOST_REFERRED) throw tooMany(from + at);
      if (said !== undefined) items.push(said);
    }
  }
  return items;
}

const unsealed = (holds: SealedKind, text: string): GivenItem =>
  holds === "reasoning"
    ? { type: "reasoning", text }
    : { type: "message", role: "user", text, isSummary: true };

const tooMany = (index: number) =>
  invalid(
    `input[${index}]`,
    "too_many_references",
    `"input[${index}]" is one reference too many: a request may have ${MOST_REFERENCES}, which stand for at most ${MOST_REFERRED} characters together.`,
  );

/** Outputs belong to calls earlier in the same array, which then is no resume but a history. */
export function refuseLoose(items: readonly GivenItem[], replay: boolean): void {
  const calls = new Set<string>();
  const isLoose = items.some((item) => {
    if (item.type === "function_call") calls.add(item.call);
    return item.type === "function_call_output" && !(replay && calls.has(item.call));
  });
  if (isLoose)
    throw invalid(
      "previous_response_id",
      "previous_response_id_required",
      '"previous_response_id" is required with function_call_output items: it names the response whose call they answer.',
    );
}

/** What follows the last word of the assistant is the message; what came before it is history. */
export function askOf(items: readonly SaidItem[]): Ask {
  const start = items.findLastIndex((item) => !isRequest(item)) + 1;
  const history = items.slice(0, start);
  const ask = { history, outputs: [], ...requestOf(items.slice(start)) };
  const last = history.at(-1);
  const goesOn = last?.type === "function_call_output" || (last?.type === "message" && last.isSummary);
  if (isEmpty(ask) && !goesOn) throw nothing();
  return ask;
}

/**
 * What is asked after a turn that waits for these calls, or for none. All of them are answered first, and a message may
 * follow; where the caller has gone on by itself, that is history.
 */
export function askAfter(items: readonly SaidItem[], pending: ReadonlySet<string>): Ask {
  // Clients repeat the call that they answer.
  const fresh = items.filter((item) => !(item.type === "function_call" && pending.has(item.call)));
  const end = fresh.findIndex((item) => item.type !== "function_call_output" || !pending.has(item.call));
  const answers = end === -1 ? fresh.length : end;
  const rest = fresh.slice(answers);
  if (!rest.every(isRequest)) return askOf(fresh);
  const outputs = fresh.slice(0, answers) as readonly CallOutput[];
  const ask = { history: [], outputs, ...requestOf(rest) };
  if (outputs.length === 0 && isEmpty(ask)) throw nothing();
  return ask;
}

/** Outputs and nothing else. */
export const answersOf = (items: readonly SaidItem[]): Ask => ({
  history: [],
  outputs: items as readonly CallOutput[],
  text: "",
  attachments: [],
  instructions: [],
});

/** Words of the system at the very beginning are instructions of this request. */
export function takeInstructions<Item extends GivenItem>(
  items: readonly Item[],
): { readonly instructions: readonly string[]; readonly items: readonly Item[] } {
  const first = items.findIndex(
    (item) => item.type !== "message" || (item.role !== "system" && item.role !== "developer"),
  );
  const count = first === -1 ? items.length : first;
  const instructions = items.slice(0, count).flatMap((item) => (item.type === "message" ? [item.text] : []));
  return { instructions, items: items.slice(count) };
}

const isRequest = (item: SaidItem): boolean =>
  item.type === "message" && item.role !== "assistant" && !item.isSummary;

const isEmpty = ({ text, attachments }: Pick<Ask, "text" | "attachments">): boolean =>
  text === "" && attachments.length === 0;

function requestOf(items: readonly SaidItem[]): Pick<Ask, "text" | "attachments" | "instructions"> {
  const asked = items.filter((item) => item.type === "message");
  return {
    text: joined(asked.filter(({ role }) => role === "user")),
    attachments: asked.flatMap(({ attachments }) => attachments ?? []),
    instructions: asked.filter(({ role }) => role !== "user").map(({ text }) => text),
  };
}

const joined = (messages: readonly { readonly text: string }[]): string =>
  messages
    .map(({ text }) => text)
    .filter((text) => text.trim() !== "")
    .join("\n\n");

const nothing = () =>
  invalid(
    "input",
    "input_required",
    '"input" must say something: a text, or an array of items with a user message.',
  );

// —— what does not fit to what the thread waits for ———————————————————————————

/** A gate of another kind fails the turn that would go on beside it; a pending call refuses it. */
export function refuseGate(gate: Gate, ask: Ask, pageOf: PageOf): WireError | undefined {
  if (gate.type !== "external_tool") return ask.outputs.length > 0 ? undefined : gateError(gate, pageOf);
  if (ask.outputs.length === 0 && ask.history.length === 0) throw outputExpected([gate.call.id]);
  return undefined;
}

const outputExpected = (calls: readonly string[]) =>
  invalid(
    "input",
    "tool_output_expected",
    `The thread is waiting for the output of call "${calls.join('", "')}". Send it as a function_call_output item first, then the message in a new request.`,
  );

export function refuseUnanswered({ outputs, history }: Ask, pending: ReadonlySet<string>): void {
  const answers = [...outputs, ...history].filter((item) => item.type === "function_call_output");
  const answered = new Set(answers.map(({ call }) => call));
  const missing = [...pending].filter((call) => !answered.has(call));
  if (missing.length > 0) throw outputExpected(missing);
}

/** An output answers a call that waits, or one that came with it. */
export function refuseStray(items: readonly SaidItem[], pending: ReadonlySet<string>): void {
  const known = new Set(pending);
  for (const [index, item] of items.entries()) {
    if (item.type === "function_call") known.add(item.call);
    if (item.type === "function_call_output" && !known.has(item.call))
      throw invalid(
        `input[${index}].call_id`,
        pending.size > 0 ? "call_id_mismatch" : "no_pending_call",
        `"input[${index}].call_id": the previous response has no call "${item.call}".`,
      );
  }
}

export function refuseResume(gate: Gate | undefined, { outputs }: Ask): void {
  if (gate?.type !== "external_tool") {
    const instead = gate
      ? ` It is waiting for something else (${gate.type}), which must be resolved first.`
      : "";
    throw invalid("input", "no_pending_call", `The thread has no pending function call.${instead}`);
  }
  const other = outputs.findIndex(({ call }, index) => call !== gate.call.id || index > 0);
  if (other === -1) return;
  throw invalid(
    `input[${other}].call_id`,
    "call_id_mismatch",
    `"input[${other}].call_id" does not match: the pending function call is "${gate.call.id}".`,
  );
}
