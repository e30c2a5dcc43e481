/**
 * Collects whose words a conversation is made of, from all that is stored of it and what the running turn adds. What a model is
 * still shown does not matter: a summary says in other words what these items said.
 */
import { tryJson } from "../../kernel/kit/text.ts";
import { type Outside, othersIn } from "../../kernel/kit/turns.ts";
import { capText } from "../../kernel/kit/untrusted.ts";
import type { Gate, Origin, ToolCall, TurnInput, TurnItem } from "../../kernel/plugin.ts";
import type { SpokenTurn } from "../agent/services.ts";
import { isUsualName } from "./call/param-roles.ts";
import { isScalar, type Scalar } from "./outputs/records.ts";

/** Somebody else's words. */
export interface Entry {
  /** Who said it, where the item says so: all whose words it may be made of. */
  readonly origins?: readonly Origin[] | undefined;
  /** The tool that said it. Who owns it and whether it is trusted is decided later. */
  readonly tool?: { readonly name: string; readonly isCallers: boolean; readonly isOwn: boolean };
  readonly text: string;
  /** The params of the call that it answers. */
  readonly asked?: unknown;
  /** True where a model of ours wrote it, or may have written some of it. */
  readonly isMade?: boolean;
  /** True for what came from outside with a message, and not by a call. */
  readonly isDocument?: boolean;
  /** True for an earlier run of a routine, which does the same each time. */
  readonly isPast?: boolean;
  /** True for a call that failed. */
  readonly isFailed?: boolean;
}

export interface Trace {
  /** The person's words, and the instructions of whoever runs this for them. */
  readonly said: readonly string[];
  /** The person's answers, and a caller's facts about them. */
  readonly known: readonly string[];
  readonly approved: readonly ApprovedCall[];
  readonly entries: readonly Entry[];
  /** How many entries there were when the person last said something. */
  readonly begin: number;
  readonly open: ReadonlyMap<string, readonly { readonly call: ToolCall; readonly isCallers: boolean }[]>;
  readonly gates: ReadonlyMap<string, Gate>;
}

/** A call that the person approved. Each of its values is theirs in this parameter of this tool, and nowhere else. */
export interface ApprovedCall {
  readonly tool: string;
  /** The tool as it was when they were asked: a later version may use its parameters for something else. */
  readonly fingerprint: string | undefined;
  /** The tools that the answer reaches, as they were then. */
  readonly covers: string | undefined;
  readonly params: unknown;
  /** How many entries there were when they answered. */
  readonly at: number;
}

export const NOTHING_SAID: Trace = {
  said: [],
  known: [],
  approved: [],
  entries: [],
  begin: 0,
  open: new Map(),
  gates: new Map(),
};

/** More than a model reads of an output, so that a list that is cut for the model is still whole here. */
const MAX_LENGTH = 200_000;
/** The codes of outcomes in our words: no tool can give its own error such a code. */
const OURS = new Set(
  "denied unknown_tool tool_not_allowed invalid_params provenance_denied no_tools cancelled tool_changed no_such_tool approval_required authentication_required question_required".split(
    " ",
  ),
);

/** Adds turns to a conversation. `isOwn` says whether a tool is the agent's own. */
export function extend(before: Trace, turns: readonly SpokenTurn[], isOwn: (tool: string) => boolean): Trace {
  const said = [...before.said];
  const known = [...before.known];
  const approved = [...before.approved];
  const entries = [...before.entries];
  let { begin } = before;
  const open = new Map(before.open);
  const gates = new Map(before.gates);

  const addFiles = ({ files }: SpokenTurn, item: TurnItem): void => {
    const attachments = "attachments" in item ? (item.attachments ?? []) : [];
    const isDocument = item.type === "message" && item.role === "user" && item.origins === undefined;
    for (const { id, kind, name = kind, origins } of attachments) {
      // What the person put into the workspace is as much a document as what they attach themselves.
      const isMade = origins?.some((one) => one.kind !== "file") ?? false;
      entries.push({
        origins: [{ kind: "file", name }, ...othersIn(origins)],
        text: files.get(id) ?? "",
        isMade,
        isDocument: isDocument && !isMade,
      });
    }
  };

  /** What only a model wrote is nobody's, and gives nothing. */
  const addMade = (origins: readonly Origin[], text: string): void => {
    const others = othersIn(origins);
    if (others.length > 0) entries.push({ origins: others, text: capText(text, MAX_LENGTH), isMade: true });
  };

  const addOutside = ({ origin: name, data, origins }: Outside): void => {
    if (data === undefined) return;
    const text = JSON.stringify(data);
    if (origins) addMade(origins, text);
    else entries.push({ origins: [{ kind: "outside", name }], text, isDocument: true });
  };

  const addMessage = (item: Extract<TurnItem, { type: "message" }>, spans: Spans, turn: SpokenTurn): void => {
    if (item.outside) addOutside(item.outside);
    if (item.role === "assistant") {
      // A model's words elsewhere may be made of anything that it read there.
      if (isBrought(turn)) addMade([HISTORY], item.text);
      return;
    }
    if (item.origins?.length) addMade(item.origins, item.text);
    else {
      const { own, others } = divide(item.text, spans);
      const { words, file } = withoutFiles(own);
      said.push(words);
      if (file) entries.push(file);
      const name = turn.outside?.origin ?? "";
      if (others !== "")
        entries.push({ origins: [{ kind: "outside", name }], text: others, isDocument: true });
    }
    addFiles(turn, item);
  };

  const addResult = (item: Extract<TurnItem, { type: "tool_result" }>, turn: SpokenTurn): void => {
    const [first, ...rest] = open.get(item.call) ?? [];
    open.set(item.call, rest);
    const { outcome } = item;
    const text = outcome.status === "ok" ? outcome.output : outcome.message;
    addFiles(turn, item);
    if (outcome.status === "error" && OURS.has(outcome.code)) return;
    const name = first?.call.name ?? "";
    const isCallers = first?.isCallers ?? false;
    // If two calls have one id, nobody can tell whose result this is, so nothing about it is believed.
    const isClear = rest.every(({ call, isCallers: is }) => call.name === name && is === isCallers);
    entries.push({
      origins: othersIn(item.origins),
      isMade: (item.origins ?? []).length > 0,
      tool: { name, isCallers: isCallers || !isClear, isOwn: !isCallers && isClear && isOwn(name) },
      text: capText(text, MAX_LENGTH),
      asked: first && tryJson(first.call.params),
      isFailed: outcome.status !== "ok",
    });
  };

  for (const turn of turns) {
    const { input, instructions, context, outside, items, gate } = turn;
    if (instructions) said.push(instructions);
    if (context) known.push(JSON.stringify(context));
    if (outside) addOutside(outside);
    known.push(...answered(input));
    const answers = approvedBy(input, "gate" in input ? gates.get(input.gate) : undefined);
    approved.push(...answers.map((one) => ({ ...one, at: entries.length })));
    let spans = outside?.spans ?? [];
    for (const item of items) {
      if (item.type === "message") {
        if (item.role === "user") begin = entries.length;
        addMessage(item, spans, turn);
        if (item.role === "user") spans = [];
      } else if (item.type === "tool_result") addResult(item, turn);
      else if (item.type === "tool_call") {
        const { call, external } = item;
        open.set(call.id, [...(open.get(call.id) ?? []), { call, isCallers: external }]);
      }
    }
    if (gate) gates.set(gate.id, gate);
  }
  return { said, known, approved, entries, begin, open, gates };
}

/** Adds what was said elsewhere before it: in the turns that delegated this one. */
export function after(above: Trace, own: Trace): Trace {
  const { length } = above.entries;
  return {
    ...own,
    said: [...above.said, ...own.said],
    known: [...above.known, ...own.known],
    approved: [...above.approved, ...own.approved.map((one) => ({ ...one, at: one.at + length }))],
    entries: [...above.entries, ...own.entries],
    begin: own.begin + length,
  };
}

const HISTORY: Origin = { kind: "caller", name: "history" };

/** The history that a caller brings along is stored as a turn without a message. */
function isBrought({ input }: SpokenTurn): boolean {
  return input.type === "message" && input.text === "" && !input.attachments?.length;
}

/** The values that the person filled in are theirs from then on. */
function answered(input: TurnInput): readonly string[] {
  if (input.type !== "question") return [];
  return input.replies.flatMap(({ action, content }) => (action === "accept" ? valuesIn(content) : []));
}

function approvedBy(input: TurnInput, gate: Gate | undefined): readonly Omit<ApprovedCall, "at">[] {
  if (input.type !== "approval" || input.decision === "deny" || gate?.type !== "approval") return [];
  const { fingerprint, covers } = gate;
  return [gate.call, ...(gate.others ?? [])].map(({ name, params }) => ({
    tool: name,
    fingerprint,
    covers,
    params: tryJson(params),
  }));
}

type Spans = NonNullable<Outside["spans"]>;

/** Parts a message into the person's words and those of people outside. */
function divide(text: string, spans: Spans): { readonly own: string; readonly others: string } {
  let end = 0;
  const own: string[] = [];
  const others: string[] = [];
  for (const { from, to } of spans) {
    own.push(text.slice(end, from));
    others.push(text.slice(from, to));
    end = to;
  }
  return { own: [...own, text.slice(end)].join("\n"), others: others.join("\n") };
}

const FILE = '<file name="';

/** Channels write text files into the message. All from the first tag to the last belongs to files, because a file may hold the tags too. */
function withoutFiles(text: string): { readonly words: string; readonly file: Entry | undefined } {
  const [from, to] = [text.indexOf(FILE), text.lastIndexOf("</file>")];
  if (from === -1 || to < from) return { words: text, file: undefined };
  const start = from + FILE.length;
  const name = text.slice(start, text.indexOf('"', start)).slice(0, 200);
  return {
    words: `${text.slice(0, from)}\n${text.slice(to + "</file>".length)}`,
    file: {
      origins: [{ kind: "file", name }],
      text: capText(text.slice(from, to), MAX_LENGTH),
      isDocument: true,
    },
  };
}

/** Numbers come with their names, because a bare number is no id. A stranger's name for a field could carry something. */
function valuesIn(value: unknown): readonly string[] {
  return [...scalarsIn(value, "")].map(([name, scalar]) =>
    typeof scalar === "string" ? scalar : `${isUsualName(name) ? name : "value"} ${scalar}`,
  );
}

const MAX_DEPTH = 32;

/** Every text, number and boolean in it, with the name of the field. */
export function* scalarsIn(
  value: unknown,
  name: string,
  depth = 0,
): Generator<readonly [name: string, value: Scalar]> {
  if (isScalar(value)) yield [name, value];
  else if (typeof value === "object" && value !== null && depth < MAX_DEPTH)
    for (const [key, inner] of Object.entries(value))
      yield* scalarsIn(inner, Array.isArray(value) ? name : key, depth + 1);
}
