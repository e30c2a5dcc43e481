/** Renders each entry of the history pane as lines. */
import stringWidth from "string-width";
import { type Piece, tell } from "../../../kernel/kit.ts";
import type { Gate } from "../../../kernel/plugin.ts";
import { type Asking, choicesAt, type Entry, type EntryOf, isLong } from "../conversation/entry.ts";
import { type Form, hintOf, type QuestionGate, say, stepsOf } from "../conversation/question-form.ts";
import { durationOf, plural } from "../text/amounts.ts";
import type { Highlighter } from "../text/highlighter.ts";
import { cut, hang, plain } from "../text/lines.ts";
import { type Rendering, renderMarkdown } from "../text/markdown.ts";
import type { Palette } from "../text/palette.ts";

const FOLDED_LINES = 6;
const MIN_WIDTH_WITH_SPENDING = 40;
const MAX_OUTPUT_LINES = 400;

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

/** Puts the link after the text if it fits, otherwise below it from the edge, where the terminal writes it in one piece. */
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
  const rows = Array.from({ length: Math.ceil(link.length / width) }, (_, row) =>
    palette.underlined(link.slice(row * width, (row + 1) * width)),
  );
  return [text, ...rows, ...rest];
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
  if (entry.type !== "answer" || !entry.spent || width < MIN_WIDTH_WITH_SPENDING) return [];
  return [palette.faint(cut(`  ${plain(entry.spent)}`, width))];
}

function linesOf(entry: Entry, width: number, isFocused: boolean, palette: Palette): string[] {
  const mark = (line: string) => (isFocused ? palette.chosen(line) : line);
  switch (entry.type) {
    case "person": {
      const lines = hang(palette.person("› "), "  ", palette.strong(plain(entry.text)), width);
      const files = (entry.files ?? []).map((file) => palette.faint(cut(`  + ${plain(file)}`, width)));
      if (!isLong(entry.text)) return [...lines, ...files];
      const more = mark(
        entry.open ? "  ▾ Enter to collapse" : `  ▸ ${moreLines(lines.length - FOLDED_LINES)}`,
      );
      return [...(entry.open ? lines : lines.slice(0, FOLDED_LINES)), more, ...files];
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
  const pictures = images === 0 ? "" : ` · ${plural(images, "image")}`;
  const took = `${millis === undefined ? "" : ` ${durationOf(millis)}`}${pictures}`;
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
  const more = body.length - MAX_OUTPUT_LINES;
  return [title, ...body.slice(0, MAX_OUTPUT_LINES), ...(more > 0 ? [`    … ${moreLines(more)}`] : [])];
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

/** Says why the call is asked about, with a stranger's words marked, and what it would do. */
function approvalLines(
  { call, grants, doubts = [], others = [] }: Extract<Gate, { type: "approval" }>,
  width: number,
  palette: Palette,
): string[] {
  const name = plain(call.name);
  const line = (text: string) => hang("    ", "    ", text, width);
  const head = (text: string) => hang(palette.warning("  ? "), "    ", text, width);
  const lines = doubts.length === 0 ? head(palette.strong(`${name} needs your approval.`)) : [];
  for (const [at, { sentence, excerpt }] of tell(doubts).entries()) {
    lines.push(
      ...(at === 0 ? head(paint(sentence, palette, palette.strong)) : line(paint(sentence, palette))),
    );
    if (excerpt) lines.push(...hang("    │ ", "    │ ", paint(excerpt, palette, palette.faint), width));
  }
  if (others.length === 0) lines.push(...line(`params ${plain(call.params)}`));
  else {
    const calls = [call, ...others];
    lines.push(...line(`${calls.length} calls of ${name}. Your answer is for all of them:`));
    for (const [at, { params }] of calls.entries())
      lines.push(...hang(`    ${at + 1} `, "      ", plain(params), width));
  }
  return [...lines, ...grants.flatMap((grant) => hang("    • ", "      ", plain(grant), width))];
}

/** Underlined, a value stands out without colours too. */
function paint(pieces: readonly Piece[], palette: Palette, rest = (text: string) => text): string {
  return pieces
    .map(({ text, mark }) => {
      const shown = plain(text);
      if (mark === "value") return palette.underlined(shown);
      return mark === "source" ? palette.warning(shown) : rest(shown);
    })
    .join("");
}

/** The words of a tool's server are a stranger's, and the lines say so. */
function questionLines(
  gate: QuestionGate,
  form: Form | undefined,
  width: number,
  palette: Palette,
): string[] {
  const line = (text: string, indent = "    ") => hang(indent, indent, text, width);
  const server = plain(gate.server);
  const steps = stepsOf(gate);
  const lines = [
    ...hang(palette.warning("  ? "), "    ", palette.strong(`${server} has a question.`), width),
    ...line(
      palette.faint(
        `Asked by the server of the tool ${plain(gate.call.name)}. These are its words, and it gets your answer. Never give it a password.`,
      ),
    ),
  ];
  for (const { key, message, url } of gate.questions) {
    lines.push(...hang("    │ ", "    │ ", plain(message), width));
    if (url !== undefined) {
      const host = plain(URL.parse(url)?.host ?? "");
      lines.push(...line(`It asks you to visit a page at ${palette.strong(host)}:`), ...line(plain(url)));
    }
    for (const [at, { question, field }] of steps.entries()) {
      if (question !== key) continue;
      const label = plain(field.label);
      const isGiven = form !== undefined && at < form.values.length;
      const isCurrent = at === form?.values.length;
      const mark = isCurrent ? palette.person("  › ") : "    ";
      const value = isGiven ? say(form.values[at]) : hintOf(field);
      const text = `${isCurrent ? palette.strong(label) : label}: ${isGiven ? plain(value) : palette.faint(plain(value))}`;
      lines.push(...hang(mark, "    ", text, width));
      if (isGiven) continue;
      if (field.about) lines.push(...line(palette.faint(plain(field.about)), "      "));
      for (const [index, choice] of (field.choices ?? []).entries())
        lines.push(...hang(`      ${index + 1} `, "        ", plain(choice.label), width));
    }
  }
  if (form?.mistake !== undefined) lines.push(...line(palette.bad(plain(form.mistake))));
  return lines;
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

const moreLines = (count: number) => plural(count, "more line");
