/** The table of commands that have a key or an entry in the palette. */

import { PAGES } from "../../pages/pages.tsx";
import { attempt, getState, update } from "../../state/app.ts";
import { showSidebar, toggleSidebar } from "../../state/sidebar.ts";
import { openThread } from "../../state/threads.ts";
import { isOver } from "../../state/turn-view.ts";
import { cancel } from "../../state/turns.ts";
import { isModalOpen } from "../../widgets/modal.tsx";
import { type Command, listenForKeys } from "./keys.ts";

const ACTIONS: readonly Command[] = [
  { title: "New chat", group: "Chat", keys: "n", run: startChat },
  { title: "Write a message", group: "Chat", keys: "m", run: () => void focusComposer() },
  {
    title: "Stop the answer",
    group: "Chat",
    keys: "Escape",
    isPossible: () => running() !== undefined,
    run: stop,
  },
  {
    title: "Copy the last answer",
    group: "Chat",
    keys: "c",
    isPossible: () => lastAnswer() !== "",
    run: copyAnswer,
  },
  { title: "Previous thread", group: "Threads", keys: "alt+ArrowUp", run: () => step(-1) },
  { title: "Next thread", group: "Threads", keys: "alt+ArrowDown", run: () => step(1) },
  { title: "Search threads", group: "Threads", keys: "/", run: () => void searchThreads() },
  { title: "Show or hide the sidebar", group: "Page", keys: "mod+b", run: toggleSidebar },
  { title: "Command palette", group: "Page", keys: "mod+k", run: openPalette },
  { title: "Keyboard shortcuts", group: "Page", keys: "?", run: openSheet },
];

/** Lists the commands that this user may use. */
function listCommands(): readonly Command[] {
  const isOperator = getState().user?.role === "operator";
  const taken = new Set<string>();
  const pages = [{ name: "", title: "Chat", operator: false }, ...PAGES];
  const visits = pages.map(({ name, title, operator }) => {
    // The first letter of its title that no other page has.
    const letter = [...title.toLowerCase()].find((one) => !taken.has(one)) ?? "";
    taken.add(letter);
    const visit: Command = {
      title,
      group: "Go to",
      keys: `g ${letter}`,
      run: () => {
        location.hash = `#/${name}`;
      },
    };
    return { visit, operator };
  });
  return [...ACTIONS, ...visits.flatMap(({ visit, operator }) => (operator && !isOperator ? [] : [visit]))];
}

/** Dialogs and menus have their own keys. */
const isElsewhere = () =>
  isModalOpen() || document.querySelector(":popover-open") !== null || getState().isMenuOpen;

export const followKeys = (): (() => void) => listenForKeys(listCommands, isElsewhere);

export function startChat(): void {
  void openThread(undefined);
  location.hash = "#/";
  void focusComposer();
}

/** Waits a frame, since the field may have to be rendered first. */
async function focusField(selector: string): Promise<void> {
  await new Promise(requestAnimationFrame);
  document.querySelector<HTMLElement>(selector)?.focus();
}

function focusComposer(): Promise<void> {
  const { thread } = getState();
  if (document.querySelector(".composer") === null) location.hash = thread ? `#/chat/${thread}` : "#/";
  return focusField(".composer textarea");
}

function searchThreads(): Promise<void> {
  showSidebar();
  return focusField(".side input[type=search]");
}

const running = () => getState().turns.find((turn) => !isOver(turn));

function stop(): void {
  const turn = running();
  if (turn) void cancel(turn.id);
}

function lastAnswer(): string {
  const texts = getState().turns.map(({ pieces }) =>
    pieces.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n\n"),
  );
  return texts.findLast((text) => text !== "") ?? "";
}

function copyAnswer(): void {
  void attempt(async () => {
    await navigator.clipboard.writeText(lastAnswer());
    update({ announcement: "The last answer is copied." });
  });
}

/** Opens the thread so many places further down the list. */
function step(places: number): void {
  const { threads, thread } = getState();
  const at = threads.findIndex(({ id }) => id === thread);
  const next = at === -1 ? threads[0] : threads[at + places];
  if (next) location.hash = `#/chat/${next.id}`;
}

export function openPalette(): void {
  void attempt(async () => (await import("./palette.tsx")).openPalette(listCommands()));
}

export function openSheet(): void {
  void attempt(async () => (await import("./sheet.tsx")).openSheet(listCommands()));
}
