/** How each entry of the history pane is rendered as lines. */
import stringWidth from "string-width";
import type { Gate } from "../../../kernel/plugin.ts";
import { approvalLines } from "./approval.ts";
import { type Asking, choicesAt, type Entry, type EntryOf, isLong } from "./entry.ts";
import { questionLines } from "./question.ts";
import type { Highlighter } from "./text/highlighter.ts";
import { cut, hang, plain } from "./text/lines.ts";
import { rowsOf } from "./text/link.ts";
import { type Rendering, renderMarkdown } from "./text/markdown.ts";
import type { Palette } from "./text/palette.ts";

const FOLDED = 6;
const NARROWEST_SPENT = 40;
const LONGEST_OUTPUT = 400;

export interface Renderer {
  lines(entry: Entry, width: number, isFocused: boolean): readonly string[];
}

/** Caches each entry's lines until the entry, the width or the focus changes, or there are more colours for its code. */
export function createRenderer(palette: Palette, highlighter?: Highlighter): Renderer {
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
      const isSame = earlier?.entry === entry && earlier.width === width && earlier.isFocused === isFocused;
      if (isSame && earlier.markdown?.isFinal !== false) return earlier.lines;
      const source = entry.type === "answer" || entry.type === "note" ? entry.text : undefined;
      const markdown =
        source === undefined
          ? undefined
          : renderMarkdown(source, width - 2, palette, earlier?.markdown, highlighter);
      const lines = markdown
        ? withLink(entry, framed(entry, markdown.lines, width, palette), width, palette)
        : [...linesOf(entry, width, isFocused, palette), ""];
      kept.set(entry.id, { entry, width, isFocused, lines, markdown });
      return lines;
    },
  };
}

/** On the line of the text if it fits, otherwise below it from the edge, where `link.ts` makes it one piece. */
function withLink(
  entry: Entry,
  lines: readonly string[],
  width: number,
  palette: Palette,
): readonly string[] {
  if (entry.type !== "note" || entry.link === undefined) return lines;
  const link = plain(entry.link);
  const [text = "", ...rest] = lines;
  const whole = `${text} ${palette.underlined(link)}`;
  if (stringWidth(whole) <= width) return [whole, ...rest];
  return [text, ...rowsOf(link, width).map(palette.underlined), ...rest];
}

function framed(entry: Entry, lines: readonly string[], width: number, palette: Palette): string[] {
  const tone = entry.type === "note" ? entry.tone : "plain";
  const bar = tone === "bad" ? palette.bad("✗ ") : tone === "warning" ? palette.warning("! ") : "  ";
  if (lines.length === 0) return [];
  return [
    ...lines.map((line, index) => `${index === 0 ? bar : "  "}${line}`),
    ...spentLine(entry, width, palette),
    "",
  ];
}

function spentLine(entry: Entry, width: number, palette: Palette): string[] {
  // A small screen is for the answer.
  if (entry.type !== "answer" || !entry.spent || width < NARROWEST_SPENT) return [];
  return [palette.faint(cut(`  ${plain(entry.spent)}`, width))];
}

function linesOf(entry: Entry, width: number, isFocused: boolean, palette: Palette): string[] {
  const mark = (line: string) => (isFocused ? palette.chosen(line) : line);
  switch (entry.type) {
    case "person": {
      const lines = hang(palette.person("› "), "  ", palette.strong(plain(entry.text)), width);
      const files = (entry.files ?? []).map((file) => palette.faint(cut(`  + ${plain(file)}`, width)));
      if (!isLong(entry.text)) return [...lines, ...files];
      const more = mark(entry.open ? "  ▾ Enter to collapse" : `  ▸ ${moreLines(lines.length - FOLDED)}`);
      return [...(entry.open ? lines : lines.slice(0, FOLDED)), more, ...files];
    }
    case "tool":
      return toolLines(entry, width, mark, palette);
    case "gate":
      return gateLines(entry, width, isFocused, palette);
    case "confirm": {
      const lines = hang(palette.warning("  ? "), "    ", palette.strong(plain(entry.question)), width);
      return [...lines, ...answerLines(entry, width, isFocused, palette)];
    }
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

function gateLines(entry: EntryOf<"gate">, width: number, isFocused: boolean, palette: Palette): string[] {
  const { gate, form } = entry;
  const lines =
    gate.type === "question"
      ? questionLines(gate, form, width, palette)
      : gate.type === "approval"
        ? approvalLines(gate, width, palette)
        : waitingLines(gate, width, palette);
  if (entry.decided === undefined && form !== undefined && !isFocused)
    return [
      ...lines,
      ...hang("    ", "    ", palette.faint("Type the answer below, Enter after each. Esc to stop."), width),
    ];
  return [...lines, ...answerLines(entry, width, isFocused, palette)];
}

/** The choices, or the one that was made. */
function answerLines(entry: Asking, width: number, isFocused: boolean, palette: Palette): string[] {
  if (entry.decided !== undefined) return hang("    ", "    ", palette.faint(entry.decided), width);
  const choices = choicesAt(entry).map(({ key, label }, index) => {
    const text = ` ${label} (${key}) `;
    return index === entry.choice && isFocused ? palette.chosen(text) : text;
  });
  if (choices.length === 0) return [];
  const hint = palette.faint(isFocused ? " Enter to confirm" : " Tab to answer");
  const row = `    ${choices.join(" ")}${hint}`;
  if (stringWidth(row) <= width) return [row];
  return [...choices, hint].flatMap((text) => hang("   ", "    ", text, width));
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
