/** Draws the view with Ink. Everything is cut to size first, so a frame is exactly one screen. */
import { Box, Text, useAnimation, useCursor, useInput, usePaste, useWindowSize } from "ink";
import { createElement as h, type ReactElement, useSyncExternalStore } from "react";
import stringWidth from "string-width";
import type { ModelName, PluginState } from "../../../kernel/plugin.ts";
import { COMMANDS, completions } from "../commands/slash.ts";
import type { ChangeSignal } from "../conversation/change-signal.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { PendingFiles } from "../files/pending-files.ts";
import { dollars, durationOf, plural, thousands } from "../text/amounts.ts";
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
  /** Called with each frame, with the address that takes several rows of it. */
  onBrokenLink(link: BrokenLink | undefined): void;
  /** Reports status changes that do not come from the conversation. */
  readonly pulse: Pick<ChangeSignal, "subscribe" | "version">;
}

export interface Status {
  readonly model: ModelName;
  readonly title: string | undefined;
  readonly spent: { readonly tokens: number; readonly cost: number };
  readonly plugins: readonly PluginState[];
  readonly jobs: { readonly queued: number; readonly running: number };
}

export interface BrokenLink {
  readonly link: string;
  readonly row: number;
}

const PROMPT = "› ";
const SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const MAX_COMPOSER_ROWS = 8;

export function Screen(props: ScreenProps): ReactElement {
  const { conversation, pendingFiles, view, renderer, palette, status, onBrokenLink, pulse } = props;
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
    h(ActivityLine, { conversation, pendingFiles, view, palette, columns, below: history.below }),
    lines(composer),
    lines([palette.faint(statusLine(status(), columns))]),
  );
}

/** One text node for all lines, so that Ink lays out one node instead of forty. */
function lines(all: readonly string[]): ReactElement {
  return h(Text, { wrap: "truncate" }, all.join("\n"));
}

function suggestion(name: string, columns: number, palette: Palette): string {
  return cut(`  ${palette.tool(`/${name}`.padEnd(10))}${COMMANDS[name]?.about ?? ""}`, columns);
}

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

type ActivityProps = Pick<ScreenProps, "conversation" | "pendingFiles" | "view" | "palette"> & {
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
  const text = activity
    ? `${SPINNER[frame % SPINNER.length]} ${activity.what} ${durationOf(Math.max(0, Math.floor((Date.now() - activity.since) / 1000) * 1000))} · Esc to cancel${scrolled}`
    : view.isClearing
      ? `Esc again to clear · Ctrl+P brings it back${scrolled}`
      : field === undefined
        ? `Enter to send${files === 0 ? "" : ` with ${plural(files, "file")}`} · /help${scrolled}`
        : `Enter to answer: ${plain(field)} · Esc to stop${scrolled}`;
  const shown = cut(text, columns);
  return h(Text, { wrap: "truncate" }, activity ? palette.tool(shown) : palette.faint(shown));
}

const MAX_TITLE_WIDTH = 30;

/** Shows the most important parts first, then whatever still fits. */
function statusLine({ model, title, spent, plugins, jobs }: Status, width: number): string {
  const { queued, running } = jobs;
  const segments = [
    model.name,
    title === undefined ? "new thread" : cut(plain(title), MAX_TITLE_WIDTH),
    spent.tokens > 0 ? `${thousands(spent.tokens)} tokens` : "",
    spent.cost > 0 ? dollars(spent.cost) : "",
    queued + running > 0 ? `jobs: ${running} running, ${queued} queued` : "",
    ...plugins
      .filter(({ on, detail }) => on && /^https?:\/\//.test(detail))
      .map(({ name, detail }) => `${name} ${detail.split(" ", 1)[0]}`),
  ].filter((segment) => segment !== "");
  let line = "";
  for (const segment of segments) {
    const longer = line === "" ? segment : `${line} · ${segment}`;
    if (stringWidth(longer) <= width) line = longer;
  }
  return line === "" ? cut(model.name, width) : line;
}
