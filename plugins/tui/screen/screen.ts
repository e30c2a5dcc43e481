/** Draws the view with Ink. Everything is cut to size first, so a frame is exactly one screen. */
import { Box, Text, useAnimation, useCursor, useInput, usePaste, useWindowSize } from "ink";
import { createElement as h, type ReactElement, useSyncExternalStore } from "react";
import type { Conversation } from "../conversation.ts";
import { COMMANDS, completions } from "../slash.ts";
import { layOut } from "./composer.ts";
import { type Renderer, seconds } from "./entries.ts";
import { cut, plain } from "./lines.ts";
import type { Palette } from "./palette.ts";
import type { View } from "./view.ts";

export interface ScreenProps {
  readonly conversation: Conversation;
  readonly view: View;
  readonly renderer: Renderer;
  readonly palette: Palette;
  /** The status line, for this many columns. */
  status(width: number): string;
  /** Reports status changes that do not come from the conversation. */
  readonly pulse: { subscribe(listener: () => void): () => void; version(): number };
}

const PROMPT = "› ";
const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const MOST_COMPOSER_ROWS = 8;

export function Screen(props: ScreenProps): ReactElement {
  const { conversation, view, renderer, palette, status, pulse } = props;
  useSyncExternalStore(conversation.subscribe, conversation.version);
  useSyncExternalStore(view.subscribe, view.version);
  useSyncExternalStore(pulse.subscribe, pulse.version);
  const { columns, rows } = useWindowSize();
  const { setCursorPosition } = useCursor();
  useInput(view.press);
  usePaste(view.paste);

  const composerWidth = Math.max(2, columns - PROMPT.length);
  const { rows: draftRows, cursor } = layOut(view.draft, composerWidth);
  const composerHeight = Math.min(draftRows.length, MOST_COMPOSER_ROWS, Math.max(1, Math.floor(rows / 3)));
  const fitting = completions(view.draft.text).slice(0, Math.max(0, rows - composerHeight - 4));
  const height = Math.max(0, rows - composerHeight - fitting.length - 2);
  const history = windowOf({ conversation, view, renderer }, columns, height);
  view.framed({ height, total: history.total, composerWidth, lineOf: history.lineOf });

  const firstRow = Math.max(0, Math.min(cursor.row - composerHeight + 1, draftRows.length - composerHeight));
  const composer = draftRows
    .slice(firstRow, firstRow + composerHeight)
    .map(({ text }, index) => `${firstRow + index === 0 ? palette.person(PROMPT) : "  "}${text}`);
  setCursorPosition(
    view.focus === undefined
      ? { x: PROMPT.length + cursor.column, y: height + fitting.length + 1 + cursor.row - firstRow }
      : undefined,
  );

  return h(
    Box,
    { flexDirection: "column", width: columns, height: rows, overflow: "hidden" },
    h(Box, { height, flexShrink: 0, flexDirection: "column", overflow: "hidden" }, lines(history.lines)),
    fitting.length > 0 ? lines(fitting.map((name) => suggestion(name, columns, palette))) : null,
    h(ActivityLine, { conversation, isClearing: view.isClearing, palette, columns, below: history.below }),
    lines(composer),
    lines([palette.faint(status(columns))]),
  );
}

/** One text node for all lines, so that Ink lays out one node instead of forty. */
function lines(all: readonly string[]): ReactElement {
  return h(Text, { wrap: "truncate" }, all.join("\n"));
}

function suggestion(name: string, columns: number, palette: Palette): string {
  return cut(`  ${palette.tool(`/${name}`.padEnd(10))}${COMMANDS[name]?.about ?? ""}`, columns);
}

/** The visible lines of the history. */
function windowOf(
  { conversation, view, renderer }: Pick<ScreenProps, "conversation" | "view" | "renderer">,
  width: number,
  height: number,
) {
  const starts = new Map<number, number>();
  const rendered = conversation.entries.map((entry) => renderer.lines(entry, width, entry.id === view.focus));
  let total = 0;
  for (const [index, entry] of conversation.entries.entries()) {
    starts.set(entry.id, total);
    total += rendered[index]?.length ?? 0;
  }
  // The blank line below the last entry separates nothing.
  total = Math.max(0, total - 1);
  const end = Math.max(0, total - height);
  const top = Math.min(view.top ?? end, end);
  const shown: string[] = [];
  let at = 0;
  for (const each of rendered) {
    if (at + each.length > top && at < top + height)
      shown.push(...each.slice(Math.max(0, top - at), Math.max(0, top + height - at)));
    at += each.length;
  }
  return { lines: shown, total, below: end - top, lineOf: (entry: number) => starts.get(entry) ?? 0 };
}

interface ActivityProps {
  readonly conversation: Conversation;
  readonly isClearing: boolean;
  readonly palette: Palette;
  readonly columns: number;
  readonly below: number;
}

function ActivityLine({ conversation, isClearing, palette, columns, below }: ActivityProps): ReactElement {
  const { activity } = conversation;
  const { frame } = useAnimation({ interval: 100, isActive: activity !== undefined });
  const scrolled = below > 0 ? ` · ${below} line${below === 1 ? "" : "s"} below` : "";
  const text = activity
    ? `${SPINNER[frame % SPINNER.length]} ${activity.what} ${seconds(Math.max(0, Math.floor((Date.now() - activity.since) / 1000) * 1000))} · Esc to cancel${scrolled}`
    : isClearing
      ? `Esc again to clear · Ctrl+P brings it back${scrolled}`
      : conversation.filling === undefined
        ? `Enter to send · /help${scrolled}`
        : `Enter to answer: ${plain(conversation.filling)} · Esc to stop${scrolled}`;
  const shown = cut(text, columns);
  return h(Text, { wrap: "truncate" }, activity ? palette.tool(shown) : palette.faint(shown));
}
