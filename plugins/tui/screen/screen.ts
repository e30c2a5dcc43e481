/** Draws the view with Ink. Everything is cut to size first, so a frame is exactly one screen. */

import { Box, Text, useAnimation, useCursor, useInput, usePaste, useWindowSize } from "ink";
import { createElement as h, type ReactElement, useSyncExternalStore } from "react";
import stringWidth from "string-width";
import { dollars } from "../../../kernel/kit/words.ts";
import type { ModelName, PluginState } from "../../../kernel/plugin.ts";
import type { Suggestion } from "../commands/slash.ts";
import type { ChangeSignal } from "../conversation/change-signal.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { isStep } from "../conversation/entry.ts";
import type { PendingFiles } from "../files/pending-files.ts";
import { elapsedOf, percentOf, plural, thousands } from "../text/amounts.ts";
import { cut, plain } from "../text/lines.ts";
import type { Palette } from "../text/palette.ts";
import { layOut } from "./composer.ts";
import type { Renderer } from "./entry-lines.ts";
import { columnOf } from "./scroll-position.ts";
import type { View } from "./view.ts";

export interface ScreenProps {
  readonly conversation: Conversation;
  readonly pendingFiles: Pick<PendingFiles, "waiting">;
  readonly view: View;
  readonly renderer: Renderer;
  readonly palette: Palette;
  status(): Status;
  /** What the draft could become, if it is a command. */
  suggest(text: string): readonly Suggestion[];
  /** Called with each frame, with the address that takes several rows of it. */
  onBrokenLink(link: BrokenLink | undefined): void;
  /** Reports status changes that do not come from the conversation. */
  readonly pulse: Pick<ChangeSignal, "subscribe" | "version">;
}

export interface Status {
  readonly model: ModelName;
  readonly title: string | undefined;
  readonly spent: { readonly tokens: number; readonly cost: number };
  /** The part of the model's window that the thread takes. */
  readonly fill: number | undefined;
  readonly plugins: readonly PluginState[];
  readonly jobs: { readonly queued: number; readonly running: number };
  /** Why a service elsewhere cannot be reached. */
  readonly problem: string | undefined;
  /** True where the service runs elsewhere, and goes on without this terminal. */
  readonly isJoined: boolean;
}

export interface BrokenLink {
  readonly link: string;
  readonly row: number;
}

const PROMPT = "› ";
const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const MAX_COMPOSER_ROWS = 8;
const MAX_SUGGESTIONS = 24;
/** On a lower screen each line is for the history. */
const MIN_ROWS_WITH_GAP = 20;

export function Screen(props: ScreenProps): ReactElement {
  const { conversation, pendingFiles, view, renderer, palette, status, suggest, onBrokenLink, pulse } = props;
  useSyncExternalStore(conversation.subscribe, conversation.version);
  useSyncExternalStore(view.subscribe, view.version);
  useSyncExternalStore(pulse.subscribe, pulse.version);
  const { columns, rows } = useWindowSize();
  const { setCursorPosition } = useCursor();
  useInput(view.press);
  usePaste(view.paste);

  const composerWidth = Math.max(2, columns - PROMPT.length);
  const { rows: draftRows, cursor } = layOut(view.draft, composerWidth);
  const composerHeight = Math.min(draftRows.length, MAX_COMPOSER_ROWS, Math.max(1, Math.floor(rows / 3)));
  const room = Math.max(0, Math.min(MAX_SUGGESTIONS, rows - composerHeight - 5));
  const fitting = suggest(view.draft.text).slice(0, room);
  const gap = rows >= MIN_ROWS_WITH_GAP ? 1 : 0;
  const height = Math.max(0, rows - composerHeight - fitting.length - 2 - gap);
  const history = windowOf({ conversation, view, renderer }, { width: columns, height, composerWidth });
  onBrokenLink(history.brokenLink);

  const firstRow = Math.max(0, Math.min(cursor.row - composerHeight + 1, draftRows.length - composerHeight));
  const composer = draftRows
    .slice(firstRow, firstRow + composerHeight)
    .map(({ text }, index) => `${firstRow + index === 0 ? palette.person(PROMPT) : "  "}${text}`);
  setCursorPosition(
    view.focus === undefined
      ? { x: PROMPT.length + cursor.column, y: height + gap + fitting.length + 1 + cursor.row - firstRow }
      : undefined,
  );

  return h(
    Box,
    { flexDirection: "column", width: columns, height: rows, overflow: "hidden" },
    h(Box, { height, flexShrink: 0, flexDirection: "column", overflow: "hidden" }, lines(history.lines)),
    gap > 0 ? lines([" "]) : null,
    fitting.length > 0 ? lines(fitting.map((each) => suggestionLine(each, columns, palette))) : null,
    h(ActivityLine, { conversation, pendingFiles, view, palette, columns, status, below: history.below }),
    lines(composer),
    lines([palette.faint(statusLine(status(), columns))]),
  );
}

/** One text node for all lines, so that Ink lays out one node instead of forty. */
function lines(all: readonly string[]): ReactElement {
  return h(Text, { wrap: "truncate" }, all.join("\n"));
}

function suggestionLine({ line, about }: Suggestion, columns: number, palette: Palette): string {
  return `  ${palette.tool(cut(plain(line).padEnd(10), columns - 2))}${cut(about, columns - 2 - Math.max(10, line.length))}`;
}

function windowOf(
  { conversation, view, renderer }: Pick<ScreenProps, "conversation" | "view" | "renderer">,
  { width, height, composerWidth }: { width: number; height: number; composerWidth: number },
) {
  const { entries } = conversation;
  const column = columnOf(
    entries.flatMap((entry, at) => {
      const isJoined = (isStep(entry) || entry.type === "calls") && isStep(entries[at + 1]);
      const lines = renderer.lines(entry, width, entry.id === view.focus, isJoined);
      const folded = entry.type === "calls" && !entry.open ? entry.steps : [];
      // Whoever was reading there goes on where they are shown.
      return [{ id: entry.id, lines }, ...folded.map(({ id }) => ({ id, lines: [] }))];
    }),
    width,
  );
  const top = view.framed({ column, height, composerWidth });
  const below = Math.max(0, column.total - height) - top;
  return { lines: column.slice(top, top + height), below, brokenLink: brokenLink() };

  /** Finds the address that takes several rows of the screen, and the first of them. */
  function brokenLink(): BrokenLink | undefined {
    for (const entry of conversation.entries) {
      if (entry.type !== "note" || entry.link === undefined) continue;
      const { link } = entry;
      const from = column.startOf(entry.id) + 1 - top;
      const rows = Math.ceil(link.length / width);
      if (rows > 1 && from >= 0 && from + rows <= height) return { link, row: from };
    }
    return undefined;
  }
}

type ActivityProps = Pick<ScreenProps, "conversation" | "pendingFiles" | "view" | "palette" | "status"> & {
  readonly columns: number;
  /** The number of lines below the screen. */
  readonly below: number;
};

function ActivityLine(props: ActivityProps): ReactElement {
  const { conversation, pendingFiles, view, palette, columns, below } = props;
  const files = pendingFiles.waiting.length;
  const { activity } = conversation;
  const field = conversation.openField();
  const { frame } = useAnimation({ interval: 100, isActive: activity !== undefined });
  const scrolled = below > 0 ? ` · ${plural(below, "line")} below` : "";
  const text = view.isQuitting
    ? `Ctrl+C again quits${stopped(props.status())}`
    : activity
      ? `${SPINNER[frame % SPINNER.length]} ${activity.what}${elapsedOf(Date.now() - activity.since)} · Esc to cancel${scrolled}`
      : view.isClearing
        ? `Esc again to clear · Ctrl+P brings it back${scrolled}`
        : field === undefined
          ? `Enter to send${files === 0 ? "" : ` with ${plural(files, "file")}`} · /help${scrolled}`
          : `Enter to answer: ${plain(field)} · Esc to stop${scrolled}`;
  const shown = cut(text, columns);
  return h(Text, { wrap: "truncate" }, activity ? palette.tool(shown) : palette.faint(shown));
}

/** What goes with the terminal, for somebody who may not know that others are served too. */
function stopped({ plugins, jobs, isJoined }: Status): string {
  if (isJoined) return "; the service keeps running";
  const serving = plugins.filter(isServing).map(({ name }) => name);
  const running = jobs.running > 0 ? [plural(jobs.running, "job")] : [];
  const all = [...serving, ...running];
  return all.length === 0 ? "" : ` and stops ${all.join(", ")}`;
}

const isServing = ({ on, detail }: PluginState): boolean => on && /^https?:\/\//.test(detail);

const MAX_TITLE_WIDTH = 30;

/** Shows the most important parts first, then whatever still fits. */
function statusLine({ model, title, spent, fill, jobs, problem }: Status, width: number): string {
  const { queued, running } = jobs;
  const name = plain(model.name);
  const segments = [
    problem === undefined ? "" : cut(plain(problem), width),
    name,
    fill === undefined ? "" : `context ${percentOf(fill)}`,
    spent.cost > 0 ? dollars(spent.cost) : "",
    title === undefined ? "new thread" : cut(plain(title), MAX_TITLE_WIDTH),
    spent.tokens > 0 ? `${thousands(spent.tokens)} tokens` : "",
    queued + running > 0 ? `jobs: ${running} running, ${queued} queued` : "",
  ].filter((segment) => segment !== "");
  let line = "";
  for (const segment of segments) {
    const longer = line === "" ? segment : `${line} · ${segment}`;
    if (stringWidth(longer) <= width) line = longer;
  }
  return line === "" ? cut(name, width) : line;
}
