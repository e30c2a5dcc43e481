/** The table of commands that have a key or an entry in the palette. */

import { PAGES } from "../../pages/pages.tsx";
import { attempt, getState, update } from "../../state/app.ts";
import { showSidebar, toggleSidebar } from "../../state/sidebar.ts";
import { startThread } from "../../state/threads.ts";
import { isOver, writtenIn } from "../../state/turn-view.ts";
import { cancel } from "../../state/turns.ts";
import { text } from "../../text/text.ts";
import { isModalOpen } from "../../widgets/modal.tsx";
import { ADMIN } from "../admin.tsx";
import { type Command, listenForKeys } from "./keys.ts";

const words = text.frame;

const ACTIONS: readonly Command[] = [
  { title: words.newChat, group: words.groups.chat, keys: "n", run: startChat },
  { title: words.writeMessage, group: words.groups.chat, keys: "m", run: () => void focusComposer() },
  {
    title: words.stopAnswer,
    group: words.groups.chat,
    keys: "Escape",
    isPossible: () => running() !== undefined,
    run: stop,
  },
  {
    title: words.copyAnswer,
    group: words.groups.chat,
    keys: "c",
    isPossible: () => lastAnswer() !== "",
    run: copyAnswer,
  },
  { title: words.previousThread, group: words.groups.threads, keys: "alt+ArrowUp", run: () => step(-1) },
  { title: words.nextThread, group: words.groups.threads, keys: "alt+ArrowDown", run: () => step(1) },
  { title: words.searchThreads, group: words.groups.threads, keys: "/", run: () => void searchThreads() },
  { title: words.toggleSidebar, group: words.groups.page, keys: "mod+b", run: toggleSidebar },
  { title: words.palette, group: words.groups.page, keys: "mod+k", run: openPalette },
  { title: words.shortcuts, group: words.groups.page, keys: "?", run: openSheet },
];

function listCommands(): readonly Command[] {
  const isOperator = getState().user?.role === "operator";
  const taken = new Set<string>();
  const pages = [{ name: "", title: text.pages.chat, group: "main" }, ...PAGES, ADMIN];
  const visits = pages.map(({ name, title, group }) => {
    // The first letter of its name in the address that no other page has: the same in every language.
    const letter = [...(name || "chat")].find((one) => !taken.has(one)) ?? "";
    taken.add(letter);
    const visit: Command = {
      title,
      group: words.groups.goTo,
      keys: `g ${letter}`,
      run: () => {
        location.hash = `#/${name}`;
      },
    };
    return { visit, group };
  });
  return [
    ...ACTIONS,
    ...visits.flatMap(({ visit, group }) => (group === "admin" && !isOperator ? [] : [visit])),
  ];
}

/** Dialogs and menus have their own keys. */
const isElsewhere = () =>
  isModalOpen() || document.querySelector(":popover-open") !== null || getState().isMenuOpen;

export const followKeys = (): (() => void) => listenForKeys(listCommands, isElsewhere);

export function startChat(): void {
  startThread();
  void focusComposer();
}

/** Waits a frame, since the field may have to be rendered first. */
export async function focusField(selector: string): Promise<void> {
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
  return (
    getState()
      .turns.map(writtenIn)
      .findLast((text) => text !== "") ?? ""
  );
}

function copyAnswer(): void {
  void attempt(async () => {
    await navigator.clipboard.writeText(lastAnswer());
    update({ announcement: words.answerCopied });
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
