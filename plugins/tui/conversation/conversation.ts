/** The conversation in the open thread: sends turns, follows those of every channel and holds what the history pane shows. */
import { type ModelName, reason, type TurnRecord } from "../../../kernel/plugin.ts";
import type { Upload } from "../../agent/services.ts";
import type { StartedTurn, Terminal } from "../services.ts";
import { createAnswers } from "./answers.ts";
import { withGroups } from "./call-groups.ts";
import { createChangeSignal } from "./change-signal.ts";
import type { Entry, EntryOf } from "./entry.ts";
import { createFollowedTurns } from "./followed-turns.ts";
import type { LiveTurn } from "./live-turn.ts";
import { createOpenThread } from "./open-thread.ts";
import { createSendQueue } from "./send-queue.ts";
import { createTranscript, describeFiles } from "./transcript.ts";

export type Conversation = ReturnType<typeof createConversation>;

// Deltas arrive faster than anybody reads them; most of the time is left free for key presses.
const FRAME_MS = 50;

export function createConversation(terminal: Terminal) {
  const changes = createChangeSignal(FRAME_MS);
  const { changed } = changes;
  const queue = createSendQueue();
  const transcript = createTranscript(changed);
  const { add, update } = transcript;
  const report = (error: unknown) => void add({ type: "note", tone: "bad", text: reason(error) });
  const thread = createOpenThread(terminal.threads, changed);
  const turns = createFollowedTurns({ terminal, thread, transcript, changed, report });
  const openGroups = new Set<number>();
  let shown: { readonly version: number; readonly entries: readonly Entry[] } | undefined;
  const answers = createAnswers(
    transcript,
    (answer) => void start((where) => terminal.answer(answer, where)),
  );
  const unwatch = terminal.watch((event, turn) => {
    if (turns.isKnown(turn.id)) turns.hear(event, turn);
    else queue.hear(() => turns.hear(event, turn));
  }, turns.readAgain);

  /** Returns false if the turn was refused. */
  function start(
    begin: (where: string | undefined) => Promise<StartedTurn>,
    sent: Partial<Pick<LiveTurn, "asked" | "entry">> = {},
  ): Promise<boolean> {
    return queue.send(async () => {
      // Read now: another thread may be open when the turn has begun.
      const where = thread.id;
      try {
        const turn = await begin(where);
        if (where === thread.id && where !== turn.thread) {
          thread.begin(turn.thread);
          // If the store fails now, the title is looked up again within a second.
          thread.lookUpTitle().catch(() => {});
        }
        turns.begin(turn, sent);
        return true;
      } catch (error) {
        report(error);
        return false;
      }
    });
  }

  return {
    get entries(): readonly Entry[] {
      const version = changes.version();
      if (shown?.version !== version)
        shown = { version, entries: withGroups(transcript.entries, (group) => openGroups.has(group)) };
      return shown.entries;
    },
    get thread() {
      return thread.id;
    },
    get title() {
      return thread.title;
    },
    get model() {
      return thread.model;
    },
    setModel: (wanted: ModelName | undefined): Promise<void> => thread.setModel(wanted),
    get activity(): Pick<LiveTurn, "since" | "what"> | undefined {
      return turns.runningHere()[0];
    },
    get spent() {
      return thread.spent;
    },
    get fill() {
      return thread.fill;
    },
    /** Returns false if the message was refused: then it is not in the conversation. */
    async send(text: string, files: readonly Upload[] = []): Promise<boolean> {
      const isQueued = turns.runningHere().length > 0;
      const entry = add({ type: "person", text, open: false, files: describeFiles(files), isQueued });
      const attachments = files.map(({ id }) => id);
      const isTaken = await start(
        (where) =>
          terminal.send({
            text,
            attachments,
            thread: where,
            model: where === undefined ? thread.model : undefined,
          }),
        { asked: text, entry },
      );
      if (!isTaken) transcript.remove(entry);
      return isTaken;
    },
    /** Sends the message of a turn again, as another version of it. */
    async sendAgain({ id, input }: TurnRecord): Promise<void> {
      const asked = input.type === "message" ? input.text : undefined;
      if (await start(() => terminal.retry(id), { asked })) await turns.open(thread.id);
    },
    /** Returns false if nothing was running. */
    cancel(): boolean {
      const running = turns.runningHere();
      for (const turn of running) turn.isOneOfSeveral = running.length > 1;
      for (const { id } of running) terminal.cancel(id).catch(report);
      return running.length > 0;
    },
    /** Takes back the newest message that was not read yet. Returns its text; undefined if there is none. */
    async takeBack(): Promise<string | undefined> {
      const waiting = turns.waiting();
      const isBack = waiting !== undefined && (await terminal.takeBack(waiting.id).catch(report));
      return isBack ? waiting.asked : undefined;
    },
    get hasWaiting(): boolean {
      return turns.waiting() !== undefined;
    },
    /** Shows a command as it was typed. */
    echo: (text: string) => void add({ type: "command", text }),
    /** Returns the note's id, for `rewrite`. */
    note: (text: string, tone: EntryOf<"note">["tone"] = "plain") => add({ type: "note", tone, text }),
    rewrite: (id: number, text: string, link?: string) =>
      update(id, "note", (entry) => ({ ...entry, text, link })),
    ...answers,
    /** Opens or closes an entry, or a group of calls. */
    toggle(id: number): void {
      if (id >= 0) answers.toggle(id);
      else if (!openGroups.delete(id)) openGroups.add(id);
      changed();
    },
    clear: turns.forget,
    lookUpTitle: thread.lookUpTitle,
    open: turns.open,
    ...changes,
    close: unwatch,
  };
}
