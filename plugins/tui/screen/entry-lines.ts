/** Renders each entry of the history pane as lines. */
import stringWidth from "string-width";
import {
  type CodeResult,
  type CodeRun,
  type Piece,
  readCodeRun,
  type Source,
  type Told,
  tell,
  tellingParam,
} from "../../../kernel/kit/display.ts";
import { tryRecord } from "../../../kernel/kit/text.ts";
import type { FileChange } from "../../../kernel/kit/tools.ts";
import type { PlannedStep } from "../../../kernel/kit/turns.ts";
import type { Gate } from "../../../kernel/plugin.ts";
import { callsIn, tellGroup } from "../conversation/call-groups.ts";
import {
  ANSWERED,
  type Asking,
  choicesAt,
  type Entry,
  type EntryOf,
  hasMore,
  hasWords,
  isFoldable,
  isLong,
  isStep,
} from "../conversation/entry.ts";
import { type Form, hintOf, type QuestionGate, say, stepsOf } from "../conversation/question-form.ts";
import { durationOf, plural, sizeOf } from "../text/amounts.ts";
import type { Highlighter } from "../text/highlighter.ts";
import { cut, hang, plain, wrap } from "../text/lines.ts";
import { fenced, type Rendering, renderMarkdown, verbatim } from "../text/markdown.ts";
import type { Palette } from "../text/palette.ts";
import type { Pictures } from "./pictures.ts";

const FOLDED_LINES = 6;
const MIN_WIDTH_WITH_SPENDING = 40;
const MIN_WIDTH_WITH_NAME = 60;
const MAX_OUTPUT_LINES = 400;

export type Renderer = ReturnType<typeof createRenderer>;

/** Caches each entry's lines until the entry, the width or the focus changes, or there are more colours for its code. */
export function createRenderer(
  palette: Palette,
  highlighter?: Highlighter,
  pictures?: Pick<Pictures, "linesOf">,
) {
  interface Kept {
    readonly entry: Entry;
    readonly width: number;
    readonly isFocused: boolean;
    readonly isJoined: boolean;
    readonly lines: readonly string[];
    readonly markdown: Rendering | undefined;
    readonly shown: number;
  }
  const kept = new Map<number, Kept>();
  return {
    /** `isJoined`: the next entry belongs to it, with no blank line in between. */
    lines(entry: Entry, width: number, isFocused: boolean, isJoined = false): readonly string[] {
      const earlier = kept.get(entry.id);
      const isSame =
        earlier?.entry === entry &&
        earlier.width === width &&
        earlier.isFocused === isFocused &&
        earlier.isJoined === isJoined;
      const charts = shownCharts(entry).map(
        ({ key, path }) => [key, pictures?.linesOf(key, path, width - 4) ?? []] as const,
      );
      const shown = charts.reduce((sum, [, rows]) => sum + rows.length, 0);
      if (isSame && earlier.shown === shown && earlier.markdown?.isFinal !== false) return earlier.lines;
      const source = entry.type === "answer" || entry.type === "note" ? entry.text : insideOf(entry);
      const markdown =
        source === undefined
          ? undefined
          : renderMarkdown(source, width - (isStep(entry) ? 4 : 2), palette, earlier?.markdown, highlighter);
      const pen = createPen({ width, isFocused, palette, pictures: new Map(charts) });
      const lines =
        markdown && !isStep(entry)
          ? framed(entry, markdown.lines, pen)
          : [...linesOf(entry, pen, markdown?.lines), ...(isJoined ? [] : [""])];
      kept.set(entry.id, { entry, width, isFocused, isJoined, lines, markdown, shown });
      return lines;
    },
  };
}

type Pen = ReturnType<typeof createPen>;

function createPen(given: {
  readonly width: number;
  readonly isFocused: boolean;
  readonly palette: Palette;
  /** The rows of each chart, by its key. */
  readonly pictures: ReadonlyMap<string, readonly string[]>;
}) {
  const { width, isFocused, palette } = given;
  return {
    ...given,
    hang: (first: string, rest: string, text: string) => hang(first, rest, text, width),
    line: (text: string) => hang("    ", "    ", text, width),
    /** Writes what an entry asks. */
    question: (text: string) => hang(palette.warning("  ? "), "    ", text, width),
    mark: (text: string) => (isFocused ? palette.chosen(text) : text),
  };
}

function framed(entry: Entry, lines: readonly string[], { width, palette }: Pen): readonly string[] {
  const tone = entry.type === "note" ? entry.tone : "plain";
  const calm = entry.type === "answer" ? palette.tool("● ") : "  ";
  const bar = tone === "bad" ? palette.bad("✗ ") : tone === "warning" ? palette.warning("! ") : calm;
  const shown = lines.map((line, index) => `${index === 0 ? bar : "  "}${line}`);
  if (lines.length > 0) {
    if (entry.type === "answer") shown.push(...sourceLines(entry.sources ?? [], width, palette));
    // A small screen is for the answer.
    if (entry.type === "answer" && entry.spent && width >= MIN_WIDTH_WITH_SPENDING)
      shown.push(palette.faint(cut(`  ${plain(entry.spent)}`, width)));
    shown.push("");
  }
  return entry.type === "note" && entry.link !== undefined
    ? withLink(plain(entry.link), shown, width, palette)
    : shown;
}

/** The host stands before the title, which is a stranger's; terminals make links of addresses by themselves. */
function sourceLines(sources: readonly Source[], width: number, palette: Palette): readonly string[] {
  const lines = sources.flatMap(({ title, host, url }, at) => [
    cut(`  ${at + 1}. ${host}: ${plain(title).replaceAll("\n", " ")}`, width),
    palette.faint(cut(`     ${plain(url)}`, width)),
  ]);
  return lines.length === 0 ? [] : ["", palette.faint("  Sources"), ...lines];
}

/** Puts the link after the text if it fits, otherwise below it from the edge, where the terminal writes it in one piece. */
function withLink(link: string, lines: readonly string[], width: number, palette: Palette): string[] {
  const [text = "", ...rest] = lines;
  const whole = `${text} ${palette.underlined(link)}`;
  if (stringWidth(whole) <= width) return [whole, ...rest];
  const rows = Array.from({ length: Math.ceil(link.length / width) }, (_, row) =>
    palette.underlined(link.slice(row * width, (row + 1) * width)),
  );
  return [text, ...rows, ...rest];
}

/** `shown`: of a run of code, what is shown in place of its params and result. */
function linesOf(entry: Entry, pen: Pen, shown?: readonly string[]): string[] {
  const { width, palette } = pen;
  switch (entry.type) {
    case "person": {
      const lines = pen.hang(palette.person("› "), "  ", palette.strong(plain(entry.text)));
      const files = (entry.files ?? []).map((file) => palette.faint(cut(`  + ${plain(file)}`, width)));
      if (entry.isQueued) files.push(palette.warning(cut("  … will be read next · ↑ takes it back", width)));
      if (!isLong(entry.text)) return [...lines, ...files];
      const more = entry.open ? "  ▾ Enter to collapse" : `  ▸ ${moreLines(lines.length - FOLDED_LINES)}`;
      return [...(entry.open ? lines : lines.slice(0, FOLDED_LINES)), pen.mark(more), ...files];
    }
    case "command":
      return [palette.faint(cut(`› ${plain(entry.text).replaceAll("\n", " ")}`, width))];
    case "tool":
      return toolLines(entry, pen, shown);
    case "thought":
      return thoughtLines(entry, pen, shown);
    case "calls":
      return groupLines(entry, pen);
    case "gate":
      return gateLines(entry, pen);
    case "confirm":
      return [...pen.question(palette.strong(plain(entry.question))), ...answerLines(entry, pen)];
    default:
      return [];
  }
}

/** A thought or a run of code that is open, as Markdown; undefined for everything else. */
function insideOf(entry: Entry): string | undefined {
  if (entry.type === "thought") return entry.open ? entry.text : undefined;
  const run = entry.type === "tool" && entry.open && !entry.isRaw ? runOf(entry) : undefined;
  return run && [fenced(run.code, "typescript"), ...resultText(run.result)].join("\n\n");
}

function runOf({ call, outcome }: EntryOf<"tool">): CodeRun | undefined {
  return readCodeRun(call, outcome?.status === "ok" ? outcome.output : undefined);
}

function resultText(result: CodeResult | undefined): readonly string[] {
  if (result === undefined) return [];
  const { printed, value, files, calls } = result;
  return [
    ...(printed === "" ? [] : ["Printed:", fenced(printed.trimEnd(), "")]),
    ...(value === "" ? [] : ["Value:", fenced(value, "json")]),
    ...(files.length === 0
      ? []
      : [files.map(({ path, bytes }) => `- ${verbatim(path)} ${sizeOf(bytes)}`).join("\n")]),
    ...(calls === 0 ? [] : [`It called tools ${plural(calls, "time")}.`]),
  ];
}

function thoughtLines(
  { millis, open }: EntryOf<"thought">,
  pen: Pen,
  shown: readonly string[] = [],
): string[] {
  const { palette } = pen;
  const took = millis !== undefined && millis >= 1000 ? ` for ${durationOf(millis)}` : "";
  const title = `${open ? "▾" : "▸"} ${millis === undefined ? "Thinking" : `Thought${took}`}`;
  const head = `  ${palette.faint("∴")} ${pen.isFocused ? pen.mark(title) : palette.faint(title)}`;
  const more = shown.length - MAX_OUTPUT_LINES;
  const body = shown.slice(0, MAX_OUTPUT_LINES).map((line) => `    ${line}`);
  return [head, ...body, ...(more > 0 ? [`    … ${moreLines(more)}`] : [])];
}

interface Chart {
  /** Another call may have written another chart to the same path. */
  readonly key: string;
  readonly path: string;
  readonly title: string;
}

/** An output is long, and a frame is drawn for each key. */
const knownCharts = new WeakMap<Entry, readonly Chart[]>();

function chartsOf(entry: EntryOf<"tool">): readonly Chart[] {
  const known = knownCharts.get(entry);
  if (known) return known;
  const found = runOf(entry)?.result?.charts ?? [];
  const charts = found.map((chart) => ({ ...chart, key: `${entry.call.id} ${chart.path}` }));
  knownCharts.set(entry, charts);
  return charts;
}

/** Charts are shown, folded or not. */
function shownCharts(entry: Entry): readonly Chart[] {
  if (entry.type === "calls") return entry.open ? [] : callsIn(entry.steps).flatMap(chartsOf);
  return entry.type === "tool" ? chartsOf(entry) : [];
}

/** A chart is named, so that it can be opened on the page, and shown where the terminal can. */
function chartLines(charts: readonly Chart[], { palette, ...pen }: Pen): string[] {
  return charts.flatMap(({ key, path, title }) => {
    const about = title === "" ? "" : `, ${title.replaceAll("\n", " ")}`;
    const rows = (pen.pictures.get(key) ?? []).map((row) => `    ${row}`);
    return [...pen.line(`chart ${palette.file(path, plain(path))}${palette.faint(plain(about))}`), ...rows];
  });
}

/** Pictures are not folded away with the calls that made them. */
function groupLines(entry: EntryOf<"calls">, pen: Pen): string[] {
  const { palette, width } = pen;
  const calls = callsIn(entry.steps);
  const failed = calls.filter(({ outcome }) => outcome?.status !== "ok").length;
  const counts = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(width >= MIN_WIDTH_WITH_NAME ? [plural(calls.length, "call")] : []),
  ];
  const tail = counts.length === 0 ? "" : `  ${counts.join(" · ")}`;
  const words = plain(tellGroup(entry)).replaceAll("\n", " ");
  const state = failed === 0 ? palette.good("✓") : palette.warning("!");
  // What was done last is often what matters, so a second line is not too much for it.
  const head = `${entry.open ? "▾" : "▸"} ${words}`;
  if (stringWidth(head + tail) <= width - 4)
    return [`  ${state} ${pen.mark(head)}${palette.faint(tail)}`, ...chartLines(shownCharts(entry), pen)];
  const [first = ""] = wrap(head, width - 6);
  const second = cut(head.slice(first.length).trimStart(), width - 6 - tail.length);
  const end = palette.faint(second === "" ? tail.trimStart() : tail);
  const title = [`  ${state} ${pen.mark(first)}`, `      ${pen.mark(second)}${end}`];
  return [...title, ...chartLines(shownCharts(entry), pen)];
}

function toolLines(entry: EntryOf<"tool">, pen: Pen, shown?: readonly string[]): string[] {
  const {
    call,
    outcome,
    summary,
    change,
    millis,
    images = 0,
    isWaiting = false,
    open,
    isRaw = false,
  } = entry;
  const { width, palette } = pen;
  const [state, result] =
    outcome === undefined
      ? isWaiting
        ? [palette.warning("?"), "waiting for your answer"]
        : [palette.tool("○"), "still running"]
      : outcome.status === "ok"
        ? [palette.good("✓"), pretty(outcome.output)]
        : [palette.bad("✗"), outcome.message];
  const run = runOf(entry);
  const charts = chartLines(chartsOf(entry), pen);
  const line = (text: string) => plain(text).replaceAll("\n", " ");
  const failure = outcome === undefined || outcome.status === "ok" ? "" : ` · ${line(outcome.message)}`;
  const pictures = images === 0 ? "" : ` · ${plural(images, "image")}`;
  const took = `${millis === undefined ? "" : ` ${durationOf(millis)}`}${pictures}`;
  const name = line(call.name);
  const tail = summary && width >= MIN_WIDTH_WITH_NAME ? `  ${name}${took}` : took;
  const about = run?.code.trim().replaceAll(/\s+/g, " ") ?? tellingParam(call);
  const words = summary ? line(summary.text) : `${name} ${line(about)}`.trim();
  const head = cut(`${open ? "▾" : "▸"} ${words}${failure}`, width - 4 - stringWidth(tail));
  const title = `  ${state} ${pen.mark(head)}${palette.faint(tail)}`;
  if (!open) return [title, ...charts];
  const isTold = hasWords(entry) && !isRaw;
  const params = pretty(call.params);
  const body = [
    ...(shown ?? []).map((each) => `  ${each}`),
    ...(isTold && change ? changeLines(change, pen) : []),
    ...(isTold && run && outcome?.status !== "ok" ? pen.line(palette.faint(plain(result))) : []),
    ...(isTold ? [] : [`params ${params}`, result].flatMap((text) => pen.line(palette.faint(plain(text))))),
    ...charts,
  ];
  const more = body.length - MAX_OUTPUT_LINES;
  return [
    title,
    ...body.slice(0, MAX_OUTPUT_LINES),
    ...(more > 0 ? [`    … ${moreLines(more)}`] : []),
    ...(pen.isFocused && hasWords(entry) ? pen.line(palette.faint(`r: ${isRaw ? "in words" : "JSON"}`)) : []),
  ];
}

/** Each line keeps its sign, so that colour is not needed to read it. */
function changeLines({ path, lines, isCut }: FileChange, { palette, ...pen }: Pen): string[] {
  const shown = lines.flatMap((line) => {
    const tone = line.startsWith("+") ? palette.good : line.startsWith("-") ? palette.bad : palette.faint;
    return pen.hang("    ", "      ", plain(line)).map((row) => row.slice(0, 4) + tone(row.slice(4)));
  });
  const more = isCut ? pen.line(palette.faint("… there is more")) : [];
  return [...pen.line(palette.file(path, plain(path))), ...shown, ...more];
}

function gateLines(entry: EntryOf<"gate">, pen: Pen): string[] {
  const { gate, form } = entry;
  const path = gate.task
    ? pen.line(`Asked by a delegated task: ${gate.task.path.map(plain).join(" › ")}`)
    : [];
  if (gate.type === "approval") return approvalLines({ ...entry, gate }, path, pen);
  const lines = gate.type === "question" ? questionLines(gate, form, pen) : waitingLines(gate, pen);
  const isTyped = entry.decided === undefined && form !== undefined && !pen.isFocused;
  const hint = pen.palette.faint("Type the answer below, Enter after each. Esc to stop.");
  return [...lines, ...path, ...(isTyped ? pen.line(hint) : answerLines(entry, pen))];
}

/** The choices, or the one that was made. */
function answerLines(entry: Asking, { width, isFocused, palette, ...pen }: Pen): string[] {
  const { decided } = entry;
  if (decided !== undefined) {
    const fold = isFoldable(entry) ? `${entry.open ? "▾" : "▸"} ` : "";
    const answer = `${fold}${decided === ANSWERED ? decided : `${ANSWERED}: ${decided}`}`;
    return pen.line(isFocused ? pen.mark(answer) : palette.faint(answer));
  }
  const choices = choicesAt(entry).map(({ key, label }, index) => {
    const text = ` ${label} (${key}) `;
    return index === entry.choice ? pen.mark(text) : text;
  });
  if (choices.length === 0) return [];
  const more = hasMore(entry) ? `, ? for ${entry.type === "gate" && entry.open ? "less" : "more"}` : "";
  const hint = palette.faint(isFocused ? ` Press a key, or Enter to confirm${more}` : " Tab to answer");
  const row = `    ${choices.join(" ")}`;
  if (stringWidth(row + hint) <= width) return [row + hint];
  const rows = stringWidth(row) <= width ? [row.slice(3)] : choices;
  return [...rows, hint].flatMap((text) => pen.hang("   ", "    ", text));
}

/** Why the call is asked about and the keys that answer it come first, then what it would do and, behind `?`, what else there is to know. */
function approvalLines(
  entry: EntryOf<"gate"> & { readonly gate: Extract<Gate, { type: "approval" }> },
  path: readonly string[],
  pen: Pen,
): string[] {
  const { gate, open = false } = entry;
  const { call, grants, doubts = [], others = [], steps } = gate;
  const isFolded = isFoldable(entry) && !open;
  if (steps) {
    const inside = isFolded ? [] : [...stepLines(steps, pen), ...path];
    const question = pen.question(pen.palette.strong(`May these ${steps.length} steps be made?`));
    return [...question, ...inside, ...answerLines(entry, pen)];
  }
  const name = plain(call.name);
  const rights = grants.flatMap((grant) => pen.hang("    • ", "      ", plain(grant)));
  const reasons = tell(doubts);
  const lines =
    doubts.length === 0
      ? pen.question(pen.palette.strong(`${name} needs your approval.`))
      : reasons.leads.flatMap((told, at) => toldLines(told, at === 0, pen));
  if (isFolded) return [...lines, ...answerLines(entry, pen)];
  if (reasons.others.length > 0) lines.push(...pen.line(`Also not yours: ${plain(reasons.also)}`));
  // Of a tool of the agent's own, what it may do is the question.
  const isAboutRights = gate.fingerprint === undefined && doubts.length === 0;
  if (isAboutRights) lines.push(...rights);
  lines.push(...path, ...answerLines(entry, pen));
  if (others.length === 0) lines.push(...paramLines(call.params, pen));
  else {
    const calls = [call, ...others];
    lines.push(...pen.line(`${calls.length} calls of ${name}. Your answer is for all of them:`));
    for (const [at, { params }] of calls.entries())
      lines.push(...pen.hang(`    ${at + 1} `, "      ", plain(params)));
  }
  if (open) lines.push(...reasons.others.flatMap((told) => toldLines(told, false, pen)));
  if (open || (doubts.length === 0 && !isAboutRights)) lines.push(...rights);
  return lines;
}

/** Who else said a value stands before it, so that no value can deny it. */
function stepLines(steps: readonly PlannedStep[], pen: Pen): string[] {
  const { palette } = pen;
  return steps.flatMap(({ title, note, values }, at) => [
    ...pen.line(
      `${at + 1}. ${palette.strong(plain(title))}${note === undefined ? "" : palette.warning(`: ${note}`)}`,
    ),
    ...values.flatMap(({ param, value, from, called }) => {
      const name = called === undefined ? "" : ` “${plain(called)}”`;
      const whose = from === undefined ? "" : palette.warning(` (${plain(from)})`);
      return pen.hang(
        "       ",
        "         ",
        `${plain(param)}${name}${whose}: ${palette.underlined(plain(value))}`,
      );
    }),
  ]);
}

/** A stranger's words are marked in it. */
function toldLines({ sentence, excerpt }: Told, isFirst: boolean, { palette, ...pen }: Pen): string[] {
  const lines = isFirst
    ? pen.question(paint(sentence, palette, palette.strong))
    : pen.line(paint(sentence, palette));
  if (excerpt) lines.push(...pen.hang("    │ ", "    │ ", paint(excerpt, palette, palette.faint)));
  return lines;
}

/** A text of several lines, such as the source of a proposed tool, is shown as one. */
function paramLines(params: string, pen: Pick<Pen, "line" | "hang">): string[] {
  const isText = (value: unknown): value is string => typeof value === "string" && value.includes("\n");
  const all = Object.entries(tryRecord(params));
  const texts = all.flatMap(([name, value]) => (isText(value) ? [[name, value] as const] : []));
  if (texts.length === 0) return pen.line(`params ${plain(params)}`);
  const rest = Object.fromEntries(all.filter(([, value]) => !isText(value)));
  return [
    ...pen.line(`params ${plain(JSON.stringify(rest))}`),
    ...texts.flatMap(([name, text]) => [
      ...pen.line(`${plain(name)}:`),
      ...text.split("\n").flatMap((line) => pen.hang("    │ ", "    │ ", plain(line))),
    ]),
  ];
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
function questionLines(gate: QuestionGate, form: Form | undefined, { palette, ...pen }: Pen): string[] {
  const steps = stepsOf(gate);
  const lines = [
    ...pen.question(palette.strong(`${plain(gate.server)} has a question.`)),
    ...pen.line(
      palette.faint(
        `Asked by the server of the tool ${plain(gate.call.name)}. These are its words, and it gets your answer. Never give it a password.`,
      ),
    ),
  ];
  for (const { key, message, url } of gate.questions) {
    lines.push(...pen.hang("    │ ", "    │ ", plain(message)));
    if (url !== undefined) {
      const host = palette.strong(plain(URL.parse(url)?.host ?? ""));
      lines.push(...pen.line(`It asks you to visit a page at ${host}:`), ...pen.line(plain(url)));
    }
    for (const [at, { question, field }] of steps.entries()) {
      if (question !== key) continue;
      const label = plain(field.label);
      const isGiven = form !== undefined && at < form.values.length;
      const isCurrent = at === form?.values.length;
      const mark = isCurrent ? palette.person("  › ") : "    ";
      const value = isGiven ? plain(say(form.values[at])) : palette.faint(plain(hintOf(field)));
      lines.push(...pen.hang(mark, "    ", `${isCurrent ? palette.strong(label) : label}: ${value}`));
      if (isGiven) continue;
      if (field.about) lines.push(...pen.hang("      ", "      ", palette.faint(plain(field.about))));
      for (const [index, choice] of (field.choices ?? []).entries())
        lines.push(...pen.hang(`      ${index + 1} `, "        ", plain(choice.label)));
    }
  }
  if (form?.mistake !== undefined) lines.push(...pen.line(palette.bad(plain(form.mistake))));
  return lines;
}

function waitingLines(gate: Exclude<Gate, { type: "question" | "approval" }>, pen: Pen): string[] {
  const name = plain(gate.call.name);
  const head =
    gate.type === "authentication"
      ? `${name} needs a credential: ${plain(gate.message)}`
      : `Waiting for the result of ${name} from the client that provides it.`;
  return [...pen.question(pen.palette.strong(head)), ...pen.line(`params ${plain(gate.call.params)}`)];
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

const moreLines = (count: number) => plural(count, "more line");
