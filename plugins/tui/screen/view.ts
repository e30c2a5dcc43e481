/** The state of the UI: draft, focus, scrolling, and what each key does. Independent of the terminal. */
import type { Key } from "ink";
import { createChangeSignal } from "../conversation/change-signal.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { type Asking, choicesAt, type Entry, isAsking, isFoldable } from "../conversation/entry.ts";
import { droppedFiles } from "../files/mentions.ts";
import { typed } from "../text/lines.ts";
import { type Draft, draftOf, EMPTY, erase, insert, move, moveRow } from "./composer.ts";
import { erasureOf, isNewLine, motionOf, separate } from "./key-bindings.ts";
import { type Column, columnOf, type ScrollPosition } from "./scroll-position.ts";

export interface ViewParts {
  readonly conversation: Conversation;
  /** Sends a message or a command, all typed or partly pasted; returns false if it was refused. */
  submit(text: string, isPasted: boolean): Promise<boolean>;
  /** Returns what Tab makes of a command; undefined if there is nothing to complete. */
  completeCommand(text: string): string | undefined;
  /** Returns what Tab makes of the path before the cursor, perhaps later; undefined if there is none to complete. */
  completeMention(beforeCursor: string): string | undefined | Promise<string | undefined>;
  /** Clears the terminal and redraws it. */
  repaint(): void;
  quit(): void;
  now?(): number;
}

/** The layout of the last frame, which scrolling and focus need. */
export interface Frame {
  readonly height: number;
  readonly column: Column;
  readonly composerWidth: number;
}

export type View = ReturnType<typeof createView>;

const MAX_SENT = 100;
/** A key that was on its way before a question could be read does not answer it. */
const MIN_SIGHT_MS = 500;
/** A person types fewer characters at once; more are a paste. */
const MAX_TYPED_AT_ONCE = 16;

export function createView(parts: ViewParts) {
  const { conversation, submit, completeCommand, completeMention, repaint, quit, now = Date.now } = parts;
  const { changed, subscribe, version } = createChangeSignal();
  const sent: string[] = [];
  let draft: Draft = EMPTY;
  let focus: number | undefined;
  /** The top of the screen; undefined while the view follows the end. */
  let reading: ScrollPosition | undefined;
  /** The index of the sent message that the composer shows; `sent.length` if none. */
  let recalled = 0;
  /** The draft that recalling put aside. */
  let unsent: Draft = EMPTY;
  let frame: Frame = { height: 1, column: columnOf([], 80), composerWidth: 80 };
  /** The question that has taken the focus, and when. */
  let asked: { readonly id: number; readonly at: number } | undefined;
  /** The question that the person left for the composer. */
  let left: number | undefined;
  let isClearing = false;
  let isQuitting = false;
  /** True if any of the draft was pasted. */
  let isPasted = false;

  const edit = (next: Draft) => {
    draft = next;
    recalled = sent.length;
    if (draft.text === "") isPasted = false;
  };

  const lastTop = () => Math.max(0, frame.column.total - frame.height);

  function top(): number {
    const line = reading && frame.column.lineOf(reading);
    return Math.min(line ?? lastTop(), lastTop());
  }

  function scroll(by: number): void {
    const next = Math.max(0, top() + by);
    reading = next >= lastTop() ? undefined : frame.column.positionAt(next);
  }

  /** The composer, then everything that can be opened or answered, newest first. */
  function elements(): readonly (number | undefined)[] {
    const others = conversation.entries.filter((entry) => isFoldable(entry) || isAsking(entry));
    return [undefined, ...others.map(({ id }) => id).reverse()];
  }

  function focusNext(by: 1 | -1): void {
    const all = elements();
    const next = (all.indexOf(focus) + by + all.length) % all.length;
    setFocus(all[next]);
  }

  function setFocus(entry: number | undefined): void {
    if (entry === undefined) left = focus;
    focus = entry;
    if (entry === undefined) return;
    const line = frame.column.startOf(entry);
    const shownFrom = top();
    if (line < shownFrom || line >= shownFrom + frame.height) scroll(line - 1 - shownFrom);
  }

  function recall(by: 1 | -1): void {
    const next = recalled + by;
    if (next < 0 || next > sent.length) return;
    if (recalled === sent.length) unsent = draft;
    recalled = next;
    draft = next === sent.length ? unsent : draftOf(sent[next] ?? "");
    // A sent message may have been pasted: that is not remembered.
    isPasted = true;
  }

  function upOrDown(by: 1 | -1): void {
    const within = draft.text === "" ? undefined : moveRow(draft, frame.composerWidth, by);
    if (within) draft = within;
    else scroll(by);
  }

  /** Escape undoes the first that applies: focus, running turn, draft, scrolling. */
  function back(): void {
    if (focus !== undefined) {
      left = focus;
      focus = undefined;
    } else if (conversation.closeForm()) {
      left = conversation.entries.findLast(isAsking)?.id;
      edit(EMPTY);
    } else if (conversation.cancel()) return;
    else if (draft.text === "") reading = undefined;
    else if (isClearing) clear();
    else isClearing = true;
  }

  /** Ctrl+C quits at once only where nothing is lost: otherwise it stops the turn or clears the draft first. */
  function interrupt(): void {
    const isStopping = conversation.cancel();
    if (isQuitting || (!isStopping && draft.text === "")) quit();
    else {
      isQuitting = true;
      if (!isStopping) clear();
    }
  }

  /** Clears the draft; Ctrl+P brings it back. */
  function clear(): void {
    isClearing = false;
    remember(draft.text);
    edit(EMPTY);
  }

  function remember(text: string): void {
    if (sent.at(-1) !== text) sent.push(text);
    if (sent.length > MAX_SENT) sent.shift();
  }

  function send(): void {
    const text = draft.text.trim();
    if (conversation.openField() !== undefined) {
      edit(EMPTY);
      reading = undefined;
      conversation.fillField(text);
      return;
    }
    if (text === "") return;
    remember(text);
    const wasPasted = isPasted;
    edit(EMPTY);
    reading = undefined;
    focus = undefined;
    void submit(text, wasPasted).then((isTaken) => {
      if (isTaken || draft.text !== "") return;
      edit(draftOf(text));
      isPasted = wasPasted;
      changed();
    });
  }

  function pressOnEntry(entry: Entry, input: string, key: Key): boolean {
    if (key.upArrow || key.downArrow) scroll(key.upArrow ? -1 : 1);
    else if (isAsking(entry)) return pressOnQuestion(entry, input, key);
    else if (key.return || input === " ") conversation.toggle(entry.id);
    else return false;
    return true;
  }

  /** One letter answers. Before the question could be read it only selects, so that a key typed as it appears approves nothing. */
  function pressOnQuestion(entry: Asking, input: string, key: Key): boolean {
    const choices = choicesAt(entry);
    const lettered = choices.findIndex((choice) => choice.key === input.toLowerCase());
    const by = key.leftArrow ? choices.length - 1 : key.rightArrow ? 1 : 0;
    const isSeen = asked?.id !== entry.id || now() - asked.at >= MIN_SIGHT_MS;
    const chosen = key.return ? choices[entry.choice] : isSeen ? choices[lettered] : undefined;
    if (lettered >= 0 && !chosen) conversation.choose(entry.id, lettered);
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
    else if (!key.ctrl && !key.meta) {
      edit(insert(draft, typed(input)));
      // A terminal without bracketed paste sends a paste like typing.
      isPasted ||= input.length > MAX_TYPED_AT_ONCE;
    }
  }

  function tab(key: Key): void {
    const [before, after] = [draft.text.slice(0, draft.cursor), draft.text.slice(draft.cursor)];
    const command = focus === undefined ? completeCommand(draft.text) : undefined;
    const mention = focus === undefined && command === undefined ? completeMention(before) : undefined;
    const take = (completed: string | undefined) => {
      if (completed !== undefined) edit({ text: completed + after, cursor: completed.length });
      else focusNext(key.shift ? -1 : 1);
    };
    if (command !== undefined) edit(draftOf(command));
    else if (!(mention instanceof Promise)) take(mention);
    else
      void mention.then((completed) => {
        // Whoever typed on meanwhile no longer waits for it.
        if (draft.text !== before + after || draft.cursor !== before.length) return;
        take(completed);
        changed();
      });
  }

  function pressOne(input: string, key: Key): void {
    const isInterrupt = key.ctrl && input === "c";
    if (!key.escape) isClearing = false;
    if (!isInterrupt) isQuitting = false;
    const focused = conversation.entries.find(({ id }) => id === focus);
    if (isInterrupt) interrupt();
    else if (key.ctrl && input === "l") {
      conversation.clear();
      reading = undefined;
      focus = undefined;
      repaint();
    } else if (key.escape) back();
    else if (key.tab) tab(key);
    // The wheel arrives as these keys, and scrolls however long the draft is.
    else if (key.shift && (key.upArrow || key.downArrow)) scroll(key.upArrow ? -1 : 1);
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
    /** The focused entry; undefined while the composer has the focus. */
    get focus() {
      return focus;
    },
    /** True if another Escape clears the draft. */
    get isClearing() {
      return isClearing;
    },
    /** True if another Ctrl+C quits. */
    get isQuitting() {
      return isQuitting;
    },
    press(input: string, key: Key): void {
      if (key.eventType === "release") return;
      for (const each of separate(input, key)) pressOne(each.input, each.key);
      changed();
    },
    paste(text: string): void {
      focus = undefined;
      const dropped = droppedFiles(text);
      edit(insert(draft, dropped ?? typed(text)));
      if (dropped === undefined) isPasted = true;
      changed();
    },
    /** Takes the layout of the next frame, and returns the first line of the history that it shows. */
    framed(next: Frame): number {
      frame = next;
      // A question takes the focus while no draft is being written, unless the person has left it.
      const gate = conversation.entries.findLast(isAsking)?.id;
      const isWriting = draft.text !== "" || conversation.openField() !== undefined;
      const isNew = gate !== asked?.id;
      if (gate !== undefined && (focus === undefined || isNew) && gate !== left && !isWriting) {
        focus = gate;
        asked = { id: gate, at: now() };
        queueMicrotask(changed);
      }
      return top();
    },
    subscribe,
    version,
  };
}
