/** Draws the view with Ink. Everything is cut to size first, so a frame is exactly one screen. */
import { Box, Text, useAnimation, useCursor, useInput, usePaste, useWindowSize } from "ink";
import { createElement as h, type ReactElement, useSyncExternalStore } from "react";
import { COMMANDS, completions } from "../commands/slash.ts";
import type { Conversation } from "../conversation.ts";
import type { Attaching } from "../files/attaching.ts";
import { layOut } from "./composer.ts";
import { type Renderer, seconds } from "./entries.ts";
import { columnOf } from "./reading-place.ts";
import { cut, plain } from "./text/lines.ts";
import type { Palette } from "./text/palette.ts";
import type { View } from "./view.ts";

export interface ScreenProps {
  readonly conversation: Conversation;
  readonly attaching: Pick<Attaching, "waiting">;
  readonly view: View;
  readonly renderer: Renderer;
  readonly palette: Palette;
  /** The status line, for this many columns. */
  status(width: number): string;
  /** Told with each frame which address is broken in it. */
  onBrokenLink(link: BrokenLink | undefined): void;
  /** Reports status changes that do not come from the conversation. */
  readonly pulse: { subscribe(listener: () => void): () => void; version(): number };
}

export interface BrokenLink {
  readonly link: string;
  readonly row: number;
}

const PROMPT = "› ";
const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const MOST_COMPOSER_ROWS = 8;

export function Screen(props: ScreenProps): ReactElement {
  const { conversation, attaching, view, renderer, palette, status, onBrokenLink, pulse } = props;
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
  const history = windowOf({ conversation, view, renderer }, { width: columns, height, composerWidth });
  onBrokenLink(history.brokenLink);

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
    h(ActivityLine, {
      ...{ conversation, isClearing: view.isClearing, files: attaching.waiting.length },
      ...{ palette, columns, below: history.below },
    }),
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
  { width, height, composerWidth }: { width: number; height: number; composerWidth: number },
) {
  const column = columnOf(
    conversation.entries.map((entry) => ({
      id: entry.id,
      lines: renderer.lines(entry, width, entry.id === view.focus),
    })),
    width,
  );
  const top = view.framed({ column, height, composerWidth });
  const below = Math.max(0, column.total - height) - top;
  return { lines: column.slice(top, top + height), below, brokenLink: brokenLink() };

  /** The address that is on several rows of the screen, and the first of them. */
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

interface ActivityProps {
  readonly conversation: Conversation;
  readonly isClearing: boolean;
  /** How many go with the next message. */
  readonly files: number;
  readonly palette: Palette;
  readonly columns: number;
  readonly below: number;
}

function ActivityLine(props: ActivityProps): ReactElement {
  const { conversation, isClearing, files, palette, columns, below } = props;
  const { activity } = conversation;
  const { frame } = useAnimation({ interval: 100, isActive: activity !== undefined });
  const scrolled = below > 0 ? ` · ${below} line${below === 1 ? "" : "s"} below` : "";
  const text = activity
    ? `${SPINNER[frame % SPINNER.length]} ${activity.what} ${seconds(Math.max(0, Math.floor((Date.now() - activity.since) / 1000) * 1000))} · Esc to cancel${scrolled}`
    : isClearing
      ? `Esc again to clear · Ctrl+P brings it back${scrolled}`
      : conversation.filling === undefined
        ? `Enter to send${files === 0 ? "" : ` with ${files} file${files === 1 ? "" : "s"}`} · /help${scrolled}`
        : `Enter to answer: ${plain(conversation.filling)} · Esc to stop${scrolled}`;
  const shown = cut(text, columns);
  return h(Text, { wrap: "truncate" }, activity ? palette.tool(shown) : palette.faint(shown));
}
