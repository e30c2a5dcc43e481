/** The state of the UI: draft, focus, scrolling, and what each key does. Independent of the terminal. */

import type { Conversation } from "../conversation.ts";
import { completions } from "../slash.ts";
import { type Draft, draftOf, EMPTY, erase, insert, move, moveRow } from "./composer.ts";
import { choicesOf, type Entry, type EntryOf, isFoldable } from "./entries.ts";
import { erasureOf, isNewLine, type Key, motionOf, separate } from "./keys.ts";
import { typed } from "./lines.ts";

export interface ViewParts {
  readonly conversation: Conversation;
  /** A message or a command was sent; answers false where it was refused. */
  submit(text: string): Promise<boolean>;
  /** Clears the terminal and redraws it. */
  repaint(): void;
  quit(): void;
}

/** The layout of the last frame, which scrolling and focus need. */
export interface Frame {
  readonly height: number;
  readonly total: number;
  readonly composerWidth: number;
  /** The line of the history on which an entry starts. */
  lineOf(entry: number): number;
}

export interface View {
  readonly draft: Draft;
  /** The focused entry; undefined while the composer has the focus. */
  readonly focus: number | undefined;
  /** The first line shown; undefined while the view follows the end. */
  readonly top: number | undefined;
  /** Another Escape clears the draft. */
  readonly isClearing: boolean;
  press(input: string, key: Key): void;
  paste(text: string): void;
  framed(frame: Frame): void;
  subscribe(listener: () => void): () => void;
  version(): number;
}

const KEEP_SENT = 100;

export function createView({ conversation, submit, repaint, quit }: ViewParts): View {
  const listeners = new Set<() => void>();
  const sent: string[] = [];
  let version = 0;
  let draft: Draft = EMPTY;
  let focus: number | undefined;
  let top: number | undefined;
  /** Which sent message the composer shows; `sent.length` if none. */
  let recalled = 0;
  /** The draft that recalling put aside. */
  let unsent: Draft = EMPTY;
  let frame: Frame = { height: 1, total: 0, composerWidth: 80, lineOf: () => 0 };
  let knownGate: number | undefined;
  let isClearing = false;

  function changed(): void {
    version++;
    for (const listener of listeners) listener();
  }

  const edit = (next: Draft) => {
    draft = next;
    recalled = sent.length;
  };

  function scroll(by: number): void {
    const end = Math.max(0, frame.total - frame.height);
    const next = Math.max(0, Math.min(end, (top ?? end) + by));
    top = next >= end ? undefined : next;
  }

  /** The composer, then everything that can be opened or answered, newest first. */
  function elements(): readonly (number | undefined)[] {
    const others = conversation.entries.filter((entry) => isFoldable(entry) || isOpenGate(entry));
    return [undefined, ...others.map(({ id }) => id).reverse()];
  }

  function focusNext(by: 1 | -1): void {
    const all = elements();
    const next = (all.indexOf(focus) + by + all.length) % all.length;
    setFocus(all[next]);
  }

  function setFocus(entry: number | undefined): void {
    focus = entry;
    if (entry === undefined) return;
    const line = frame.lineOf(entry);
    const shownFrom = top ?? Math.max(0, frame.total - frame.height);
    if (line < shownFrom || line >= shownFrom + frame.height) scroll(line - 1 - shownFrom);
  }

  function recall(by: 1 | -1): void {
    const next = recalled + by;
    if (next < 0 || next > sent.length) return;
    if (recalled === sent.length) unsent = draft;
    recalled = next;
    draft = next === sent.length ? unsent : draftOf(sent[next] ?? "");
  }

  function upOrDown(by: 1 | -1): void {
    const within = draft.text === "" ? undefined : moveRow(draft, frame.composerWidth, by);
    if (within) draft = within;
    else scroll(by);
  }

  /** Escape undoes the first that applies: focus, running turn, draft, scrolling. */
  function back(): void {
    if (focus !== undefined) focus = undefined;
    else if (conversation.stopFilling()) edit(EMPTY);
    else if (conversation.cancel()) return;
    else if (draft.text === "") top = undefined;
    else if (isClearing) clear();
    else isClearing = true;
  }

  /** Ctrl+P brings it back. */
  function clear(): void {
    isClearing = false;
    remember(draft.text);
    edit(EMPTY);
  }

  function remember(text: string): void {
    if (sent.at(-1) !== text) sent.push(text);
    if (sent.length > KEEP_SENT) sent.shift();
  }

  function send(): void {
    const text = draft.text.trim();
    if (conversation.filling !== undefined) {
      edit(EMPTY);
      top = undefined;
      conversation.fill(text);
      return;
    }
    if (text === "") return;
    remember(text);
    edit(EMPTY);
    top = undefined;
    focus = undefined;
    void submit(text).then((isTaken) => {
      if (isTaken || draft.text !== "") return;
      edit(draftOf(text));
      changed();
    });
  }

  function pressOnEntry(entry: Entry, input: string, key: Key): boolean {
    if (key.upArrow || key.downArrow) scroll(key.upArrow ? -1 : 1);
    else if (isOpenGate(entry)) return pressOnGate(entry, input, key);
    else if (key.return || input === " ") conversation.toggle(entry.id);
    else return false;
    return true;
  }

  /** A letter only selects and Enter confirms, so that a key typed as the gate appears cannot approve anything. */
  function pressOnGate(entry: EntryOf<"gate">, input: string, key: Key): boolean {
    const choices = choicesOf(entry.gate);
    const lettered = choices.findIndex((choice) => choice.key === input.toLowerCase());
    const by = key.leftArrow ? choices.length - 1 : key.rightArrow ? 1 : 0;
    const chosen = key.return ? choices[entry.choice] : undefined;
    if (lettered >= 0) conversation.choose(entry.id, lettered);
    else if (by > 0) conversation.choose(entry.id, (entry.choice + by) % choices.length);
    else if (chosen) {
      focus = undefined;
      conversation.decide(entry.id, chosen);
    } else return false;
    return true;
  }

  function pressInComposer(input: string, key: Key): void {
    const motion = motionOf(input, key);
    const erasure = erasureOf(input, key);
    if (isNewLine(input, key)) edit(insert(draft, "\n"));
    else if (key.return) send();
    else if (key.upArrow || key.downArrow) upOrDown(key.upArrow ? -1 : 1);
    else if (key.ctrl && (input === "p" || input === "n")) recall(input === "p" ? -1 : 1);
    else if (motion) draft = move(draft, motion);
    else if (erasure) edit(erase(draft, erasure));
    else if (!key.ctrl && !key.meta) edit(insert(draft, typed(input)));
  }

  function tab(key: Key): void {
    const [first] = focus === undefined ? completions(draft.text) : [];
    if (first !== undefined && draft.text !== `/${first}`) edit(draftOf(`/${first}`));
    else focusNext(key.shift ? -1 : 1);
  }

  function pressOne(input: string, key: Key): void {
    if (!key.escape) isClearing = false;
    const focused = conversation.entries.find(({ id }) => id === focus);
    if (key.ctrl && input === "c") quit();
    else if (key.ctrl && input === "l") {
      conversation.clear();
      top = undefined;
      focus = undefined;
      repaint();
    } else if (key.escape) back();
    else if (key.tab) tab(key);
    else if (key.pageUp || key.pageDown) scroll((key.pageUp ? -1 : 1) * Math.max(1, frame.height - 1));
    else if (!focused || !pressOnEntry(focused, input, key)) {
      // Typing goes to the composer, wherever the focus was.
      if (focused && input === "") return;
      focus = undefined;
      pressInComposer(input, key);
    }
  }

  return {
    get draft() {
      return draft;
    },
    get focus() {
      return focus;
    },
    get top() {
      return top;
    },
    get isClearing() {
      return isClearing;
    },
    press(input, key) {
      if (key.eventType === "release") return;
      for (const each of separate(input, key)) pressOne(each.input, each.key);
      changed();
    },
    paste(text) {
      focus = undefined;
      edit(insert(draft, typed(text)));
      changed();
    },
    framed(next) {
      frame = next;
      // A new gate takes the focus unless a draft is being written.
      const gate = conversation.entries.findLast(isOpenGate)?.id;
      if (gate !== undefined && gate !== knownGate && draft.text === "") {
        focus = gate;
        queueMicrotask(changed);
      }
      knownGate = gate ?? knownGate;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    version: () => version,
  };
}

function isOpenGate(entry: Entry): entry is EntryOf<"gate"> {
  return entry.type === "gate" && entry.decided === undefined && choicesOf(entry.gate).length > 0;
}
