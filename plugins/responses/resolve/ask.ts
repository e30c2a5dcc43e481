/** Splits the input into a message, the outputs of pending calls, and the history that the thread does not have. */
import {
  type GivenItem,
  type InputItem,
  type KeptAttachment,
  nothingAsked,
  type SaidItem,
} from "../parse/items.ts";
import { invalid } from "../wire/refusal.ts";

export interface Ask {
  /** Earlier items that the thread does not have. */
  readonly history: readonly SaidItem[];
  /** Outputs of the calls that the thread waits for. */
  readonly outputs: readonly CallOutput[];
  /** Empty when the input ends with the output of a call, which the model then answers. */
  readonly text: string;
  readonly attachments: readonly KeptAttachment[];
  /** Texts of the system or developer roles that came with the message. */
  readonly instructions: readonly string[];
}

export type CallOutput = Extract<SaidItem, { type: "function_call_output" }>;

/** §3.2: a request with outputs of calls has nothing else in it. */
export function refuseMixture(items: readonly InputItem[]): void {
  const other = items.findIndex(({ type }) => type !== "function_call_output");
  if (other === -1) return;
  const message = `"input[${other}]" cannot be combined with function_call_output items. Send the outputs first, then the rest in a new request.`;
  throw invalid(`input[${other}]`, "mixed_input", message);
}

/** Outputs belong to calls earlier in the same array, which then is a history and no resume. */
export function refuseLoose(items: readonly GivenItem[], replay: boolean): void {
  const calls = new Set<string>();
  const isLoose = items.some((item) => {
    if (item.type === "function_call") calls.add(item.call);
    return item.type === "function_call_output" && !(replay && calls.has(item.call));
  });
  if (isLoose) {
    const message =
      '"previous_response_id" is required with function_call_output items: it names the response whose call they answer.';
    throw invalid("previous_response_id", "previous_response_id_required", message);
  }
}

/** The items after the assistant's last item are the message; those before are history. */
export function askOf(items: readonly SaidItem[]): Ask {
  const start = items.findLastIndex((item) => !isRequest(item)) + 1;
  const history = items.slice(0, start);
  const ask = { history, outputs: [], ...requestOf(items.slice(start)) };
  const last = history.at(-1);
  const continues = last?.type === "function_call_output" || (last?.type === "message" && last.isSummary);
  if (isEmpty(ask) && !continues) throw nothingAsked();
  return ask;
}

/**
 * The input after a turn that waits for these calls, or for none: first the outputs of all of them, then perhaps a message. Items of
 * a caller that continued without us are history.
 */
export function askAfter(items: readonly SaidItem[], pending: ReadonlySet<string>): Ask {
  // Clients repeat the call whose output they send.
  const fresh = items.filter((item) => !(item.type === "function_call" && pending.has(item.call)));
  const end = fresh.findIndex((item) => item.type !== "function_call_output" || !pending.has(item.call));
  const answers = end === -1 ? fresh.length : end;
  const rest = fresh.slice(answers);
  if (!rest.every(isRequest)) return askOf(fresh);
  const outputs = fresh.slice(0, answers) as readonly CallOutput[];
  const ask = { history: [], outputs, ...requestOf(rest) };
  if (outputs.length === 0 && isEmpty(ask)) throw nothingAsked();
  return ask;
}

/** System messages at the very beginning are instructions of this request. */
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
