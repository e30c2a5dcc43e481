/** The state of the UI: draft, focus, scrolling, and what each key does. Independent of the terminal. */
import type { Key } from "ink";
import { createChangeSignal } from "../conversation/change-signal.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { type Asking, choicesAt, type Entry, hasMore, isAsking, isPlan } from "../conversation/entry.ts";
import { droppedFiles } from "../files/mentions.ts";
import { typed } from "../text/lines.ts";
import { draftOf, EMPTY, erase, insert, move, moveRow } from "./composer.ts";
import { createDrafts } from "./drafts.ts";
import { createFocus } from "./focus.ts";
import { erasureOf, isNewLine, motionOf, separate } from "./key-bindings.ts";
import { createViewport, type Frame } from "./viewport.ts";

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

export type View = ReturnType<typeof createView>;

/** A person types fewer characters at once; more are a paste. */
const MAX_TYPED_AT_ONCE = 16;

export function createView(parts: ViewParts) {
  const { conversation, submit, completeCommand, completeMention, repaint, quit, now = Date.now } = parts;
  const { changed, subscribe, version } = createChangeSignal();
  const drafts = createDrafts();
  const viewport = createViewport();
  const focus = createFocus(conversation, viewport, now);
  let isClearing = false;
  let isQuitting = false;

  function upOrDown(by: 1 | -1): void {
    const draft = drafts.current;
    const within = draft.text === "" ? undefined : moveRow(draft, viewport.composerWidth, by);
    if (within) drafts.moveTo(within);
    else if (by === -1 && draft.text === "" && conversation.hasWaiting) void takeBack();
    else viewport.scroll(by);
  }

  /** The message is a draft again, unless it was read by then. */
  async function takeBack(): Promise<void> {
    const text = await conversation.takeBack();
    if (text === undefined || drafts.current.text !== "") return;
    drafts.edit(draftOf(text));
    changed();
  }

  /** Escape undoes the first that applies: focus, running turn, draft, scrolling. */
  function back(): void {
    if (focus.entry !== undefined) focus.leave(focus.entry);
    else if (conversation.closeForm()) {
      focus.leave(conversation.entries.findLast(isAsking)?.id);
      drafts.edit(EMPTY);
    } else if (conversation.cancel()) return;
    else if (drafts.current.text === "") viewport.followEnd();
    else if (isClearing) clear();
    else isClearing = true;
  }

  /** Ctrl+C quits at once only where nothing is lost: otherwise it stops the turn or clears the draft first. */
  function interrupt(): void {
    const isStopping = conversation.cancel();
    if (isQuitting || (!isStopping && drafts.current.text === "")) quit();
    else {
      isQuitting = true;
      if (!isStopping) clear();
    }
  }

  /** Clears the draft; Ctrl+P brings it back. */
  function clear(): void {
    isClearing = false;
    drafts.putAway(drafts.current.text);
  }

  function send(): void {
    const text = drafts.current.text.trim();
    if (conversation.openField() !== undefined) {
      drafts.edit(EMPTY);
      viewport.followEnd();
      conversation.fillField(text);
      return;
    }
    if (text === "") return;
    const wasPasted = drafts.isPasted;
    drafts.putAway(text);
    viewport.followEnd();
    focus.toComposer();
    void submit(text, wasPasted).then((isTaken) => {
      const [asked, told] = conversation.entries.slice(-2);
      if (asked?.type === "command" && told?.type === "note") viewport.begin(asked.id);
      changed();
      if (isTaken || drafts.current.text !== "") return;
      drafts.edit(draftOf(text));
      if (wasPasted) drafts.markPasted();
      changed();
    });
  }

  function pressOnEntry(entry: Entry, input: string, key: Key): boolean {
    if (key.upArrow || key.downArrow) viewport.scroll(key.upArrow ? -1 : 1);
    else if (isAsking(entry)) return pressOnQuestion(entry, input, key);
    else if (key.return || input === " ") conversation.toggle(entry.id);
    else if (input === "r" && entry.type === "tool") conversation.toggleRaw(entry.id);
    else return false;
    return true;
  }

  /** One letter answers. Before the question could be read it only selects, so that a key typed as it appears approves nothing. */
  function pressOnQuestion(entry: Asking, input: string, key: Key): boolean {
    const choices = choicesAt(entry);
    const lettered = choices.findIndex((choice) => choice.key === input.toLowerCase());
    const by = key.leftArrow ? choices.length - 1 : key.rightArrow ? 1 : 0;
    if (input === "?" && hasMore(entry)) {
      conversation.toggle(entry.id);
      return true;
    }
    const isSeen = focus.isSeen(entry.id);
    const chosen = key.return ? choices[entry.choice] : isSeen ? choices[lettered] : undefined;
    if (lettered >= 0 && !chosen) conversation.choose(entry.id, lettered);
    else if (by > 0) conversation.choose(entry.id, (entry.choice + by) % choices.length);
    // Nobody agrees to steps that they have not had on the screen.
    else if (chosen?.decision === "once" && isPlan(entry) && viewport.endsBelow(entry.id))
      viewport.scrollPages(1);
    else if (chosen) {
      focus.toComposer();
      viewport.followEnd();
      conversation.decide(entry.id, chosen);
    } else return false;
    return true;
  }

  function pressInComposer(input: string, key: Key): void {
    const draft = drafts.current;
    const motion = motionOf(input, key);
    const erasure = erasureOf(input, key);
    if (isNewLine(input, key)) drafts.edit(insert(draft, "\n"));
    else if (key.return) send();
    else if (key.upArrow || key.downArrow) upOrDown(key.upArrow ? -1 : 1);
    else if (key.ctrl && (input === "p" || input === "n")) drafts.recall(input === "p" ? -1 : 1);
    else if (motion) drafts.moveTo(move(draft, motion));
    else if (erasure) drafts.edit(erase(draft, erasure));
    else if (!key.ctrl && !key.meta) {
      drafts.edit(insert(draft, typed(input)));
      // A terminal without bracketed paste sends a paste like typing.
      if (input.length > MAX_TYPED_AT_ONCE) drafts.markPasted();
    }
  }

  function tab(key: Key): void {
    const { text, cursor } = drafts.current;
    const [before, after] = [text.slice(0, cursor), text.slice(cursor)];
    const command = focus.entry === undefined ? completeCommand(text) : undefined;
    const mention = focus.entry === undefined && command === undefined ? completeMention(before) : undefined;
    const take = (completed: string | undefined) => {
      if (completed !== undefined) drafts.edit({ text: completed + after, cursor: completed.length });
      else focus.next(key.shift ? -1 : 1);
    };
    if (command !== undefined) drafts.edit(draftOf(command));
    else if (!(mention instanceof Promise)) take(mention);
    else
      void mention.then((completed) => {
        // Whoever typed on meanwhile no longer waits for it.
        if (drafts.current.text !== before + after || drafts.current.cursor !== before.length) return;
        take(completed);
        changed();
      });
  }

  function pressOne(input: string, key: Key): void {
    const isInterrupt = key.ctrl && input === "c";
    if (!key.escape) isClearing = false;
    if (!isInterrupt) isQuitting = false;
    const focused = conversation.entries.find(({ id }) => id === focus.entry);
    if (isInterrupt) interrupt();
    else if (key.ctrl && input === "l") {
      conversation.clear();
      viewport.followEnd();
      focus.toComposer();
      repaint();
    } else if (key.escape) back();
    else if (key.tab) tab(key);
    // The wheel arrives as these keys, and scrolls however long the draft is.
    else if (key.shift && (key.upArrow || key.downArrow)) viewport.scroll(key.upArrow ? -1 : 1);
    else if (key.pageUp || key.pageDown) viewport.scrollPages(key.pageUp ? -1 : 1);
    else if (!focused || !pressOnEntry(focused, input, key)) {
      // Typing goes to the composer, wherever the focus was.
      if (focused && input === "") return;
      focus.toComposer();
      pressInComposer(input, key);
    }
  }

  return {
    get draft() {
      return drafts.current;
    },
    /** The focused entry; undefined while the composer has the focus. */
    get focus() {
      return focus.entry;
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
      focus.toComposer();
      const dropped = droppedFiles(text);
      drafts.edit(insert(drafts.current, dropped ?? typed(text)));
      if (dropped === undefined) drafts.markPasted();
      changed();
    },
    /** Takes the layout of the next frame, and returns the first line of the history that it shows. */
    framed(next: Frame): number {
      viewport.take(next);
      const isWriting = drafts.current.text !== "" || conversation.openField() !== undefined;
      if (focus.takeQuestion(isWriting)) queueMicrotask(changed);
      return viewport.top();
    },
    subscribe,
    version,
  };
}
