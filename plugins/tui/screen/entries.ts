/** The entries of the history pane, and how each is rendered as lines. */
import stringWidth from "string-width";
import type { Gate, ToolCall, ToolOutcome } from "../../../kernel/plugin.ts";
import { decisionsAt } from "../../../kernel/vocabulary/tools/approval.ts";
import { type Form, stepsOf } from "../question-form.ts";
import { approvalLines } from "./approval.ts";
import { cut, hang, plain } from "./lines.ts";
import { type Rendering, renderMarkdown } from "./markdown.ts";
import type { Palette } from "./palette.ts";
import { questionLines } from "./question.ts";

export type Entry = { readonly id: number } & (
  | { readonly type: "person"; readonly text: string; readonly open: boolean }
  | { readonly type: "answer"; readonly text: string }
  | {
      readonly type: "tool";
      readonly call: ToolCall;
      readonly outcome?: ToolOutcome;
      readonly millis?: number;
      /** How many came with the outcome. */
      readonly images?: number;
      /** It is not over: the person is asked something first. */
      readonly isWaiting?: boolean;
      readonly open: boolean;
    }
  | {
      readonly type: "gate";
      readonly gate: Gate;
      readonly choice: number;
      readonly decided?: string;
      /** While a question is being answered. */
      readonly form?: Form;
    }
  /** A message from Postern itself, in Markdown. */
  | { readonly type: "note"; readonly tone: "plain" | "warning" | "bad"; readonly text: string }
);

export type EntryOf<Type extends Entry["type"]> = Extract<Entry, { type: Type }>;

export interface Choice {
  readonly key: string;
  readonly label: string;
  readonly decision: string;
}

const APPROVAL: readonly Choice[] = [
  { key: "o", label: "Once", decision: "once" },
  { key: "a", label: "Always", decision: "always" },
  { key: "t", label: "Once, and trust this destination", decision: "destination" },
  { key: "d", label: "Deny", decision: "deny" },
];
const AUTHENTICATION: readonly Choice[] = [
  { key: "r", label: "Retry", decision: "done" },
  { key: "d", label: "Deny", decision: "deny" },
];

const DECLINE: Choice = { key: "d", label: "Decline", decision: "decline" };

export function choicesOf(gate: Gate): readonly Choice[] {
  if (gate.type === "authentication") return AUTHENTICATION;
  if (gate.type === "question")
    return [{ key: "a", label: stepsOf(gate).length > 0 ? "Answer" : "Done", decision: "accept" }, DECLINE];
  if (gate.type !== "approval") return [];
  const offered: readonly string[] = decisionsAt(gate);
  return APPROVAL.filter(({ decision }) => offered.includes(decision));
}

/** Entries that Enter opens and closes. */
export function isFoldable(entry: Entry): entry is EntryOf<"tool"> | EntryOf<"person"> {
  return entry.type === "tool" || (entry.type === "person" && isLong(entry.text));
}

const LONGEST_OPEN = 20;
const FOLDED = 6;
const LONGEST_OUTPUT = 400;

const isLong = (text: string) => text.split("\n", LONGEST_OPEN + 1).length > LONGEST_OPEN;

export interface Renderer {
  lines(entry: Entry, width: number, isFocused: boolean): readonly string[];
}

/** Caches each entry's lines until the entry, the width or the focus changes. */
export function createRenderer(palette: Palette): Renderer {
  interface Kept {
    readonly entry: Entry;
    readonly width: number;
    readonly isFocused: boolean;
    readonly lines: readonly string[];
    readonly markdown: Rendering | undefined;
  }
  const kept = new Map<number, Kept>();
  return {
    lines(entry, width, isFocused) {
      const earlier = kept.get(entry.id);
      if (earlier?.entry === entry && earlier.width === width && earlier.isFocused === isFocused)
        return earlier.lines;
      const source = entry.type === "answer" || entry.type === "note" ? entry.text : undefined;
      const markdown =
        source === undefined ? undefined : renderMarkdown(source, width - 2, palette, earlier?.markdown);
      const lines = markdown
        ? framed(entry, markdown.lines, palette)
        : [...linesOf(entry, width, isFocused, palette), ""];
      kept.set(entry.id, { entry, width, isFocused, lines, markdown });
      return lines;
    },
  };
}

function framed(entry: Entry, lines: readonly string[], palette: Palette): string[] {
  const tone = entry.type === "note" ? entry.tone : "plain";
  const bar = tone === "bad" ? palette.bad("✗ ") : tone === "warning" ? palette.warning("! ") : "  ";
  return [...lines.map((line, index) => `${index === 0 ? bar : "  "}${line}`), ""];
}

function linesOf(entry: Entry, width: number, isFocused: boolean, palette: Palette): string[] {
  const mark = (line: string) => (isFocused ? palette.chosen(line) : line);
  switch (entry.type) {
    case "person": {
      const lines = hang(palette.person("› "), "  ", palette.strong(plain(entry.text)), width);
      if (!isLong(entry.text)) return lines;
      const more = mark(entry.open ? "  ▾ Enter to collapse" : `  ▸ ${moreLines(lines.length - FOLDED)}`);
      return entry.open ? [...lines, more] : [...lines.slice(0, FOLDED), more];
    }
    case "tool":
      return toolLines(entry, width, mark, palette);
    case "gate":
      return gateLines(entry, width, isFocused, palette);
    default:
      return [];
  }
}

function toolLines(
  { call, outcome, millis, images = 0, isWaiting = false, open }: EntryOf<"tool">,
  width: number,
  mark: (line: string) => string,
  palette: Palette,
): string[] {
  const state =
    outcome === undefined
      ? isWaiting
        ? palette.warning("?")
        : palette.tool("●")
      : outcome.status === "ok"
        ? palette.good("✓")
        : palette.bad("✗");
  const pictures = images === 0 ? "" : ` · ${images} image${images === 1 ? "" : "s"}`;
  const took = `${millis === undefined ? "" : ` ${seconds(millis)}`}${pictures}`;
  const params = plain(call.params).replaceAll("\n", " ");
  const head = cut(`${open ? "▾" : "▸"} ${plain(call.name)} ${params}`, width - 4 - took.length);
  const title = `  ${state} ${mark(head)}${palette.faint(took)}`;
  if (!open) return [title];
  const result =
    outcome === undefined
      ? isWaiting
        ? "waiting for your answer"
        : "still running"
      : outcome.status === "ok"
        ? pretty(outcome.output)
        : outcome.message;
  const body = [`params ${pretty(call.params)}`, result].flatMap((text) =>
    hang("    ", "    ", palette.faint(plain(text)), width),
  );
  const more = body.length - LONGEST_OUTPUT;
  return [title, ...body.slice(0, LONGEST_OUTPUT), ...(more > 0 ? [`    … ${moreLines(more)}`] : [])];
}

function gateLines(
  { gate, choice, decided, form }: EntryOf<"gate">,
  width: number,
  isFocused: boolean,
  palette: Palette,
): string[] {
  const say = (text: string) => hang("    ", "    ", text, width);
  const lines =
    gate.type === "question"
      ? questionLines(gate, form, width, palette)
      : gate.type === "approval"
        ? approvalLines(gate, width, palette)
        : waitingLines(gate, width, palette);
  if (decided !== undefined) return [...lines, ...say(palette.faint(decided))];
  if (form !== undefined && !isFocused)
    return [...lines, ...say(palette.faint("Type the answer below, Enter after each. Esc to stop."))];
  const choices = choicesOf(gate).map(({ key, label }, index) => {
    const text = ` ${label} (${key}) `;
    return index === choice && isFocused ? palette.chosen(text) : text;
  });
  if (choices.length === 0) return lines;
  const hint = palette.faint(isFocused ? " Enter to confirm" : " Tab to answer");
  const row = `    ${choices.join(" ")}${hint}`;
  if (stringWidth(row) <= width) return [...lines, row];
  return [...lines, ...[...choices, hint].flatMap((text) => hang("   ", "    ", text, width))];
}

function waitingLines(
  gate: Exclude<Gate, { type: "question" | "approval" }>,
  width: number,
  palette: Palette,
): string[] {
  const name = plain(gate.call.name);
  const head =
    gate.type === "authentication"
      ? `${name} needs a credential: ${plain(gate.message)}`
      : `Waiting for the result of ${name} from the client that provides it.`;
  return [
    ...hang(palette.warning("  ? "), "    ", palette.strong(head), width),
    ...hang("    ", "    ", `params ${plain(gate.call.params)}`, width),
  ];
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

const moreLines = (count: number) => `${count} more line${count === 1 ? "" : "s"}`;

export function seconds(millis: number): string {
  if (millis < 1000) return `${Math.round(millis)} ms`;
  const whole = Math.floor(millis / 1000);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
