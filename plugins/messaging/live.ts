/** What is seen of a turn while it runs: typing, or the answer as it grows. If this fails, the answer comes all the same. */
import type { TurnEvent } from "../../kernel/plugin.ts";
import { findPreview, type OwedRow, previewKey } from "./outbox.ts";
import type { ChannelParts } from "./parts.ts";
import type { OutgoingMessage, SentMessage } from "./services.ts";

export interface LiveParts
  extends Pick<ChannelParts, "service" | "outbox" | "agent" | "jobs" | "log" | "write"> {
  /** A turn of somebody who uses this channel has begun, which may answer what was asked here, or waits for an answer. */
  onNews(): void;
}

interface ShownTurn {
  text: string;
  item: string;
  row?: OwedRow;
  reply?: unknown;
  preview?: SentMessage;
  /** An earlier answer is still to be sent. */
  isBehind?: boolean;
  shown: string;
  timer?: NodeJS.Timeout;
  /** The requests so far, one after the other. */
  work: Promise<void>;
  isOver: boolean;
}

const TYPING_MS = 4000;
const IDLE_MS = 60_000;
const MAX_TYPING = 50;
/** What is shown before the first words are worth a message. */
const MIN_SHOWN = 20;
/** So long the end of an answer waits for what shows it to be sent. */
const END_MS = 5000;

export function createLive(
  { service, outbox, agent, jobs, log, write, onNews }: LiveParts,
  signal: AbortSignal,
) {
  const watched = new Map<string, { readonly stop: () => void; since: number }>();
  const turns = new Map<string, ShownTurn>();
  const { editMillis } = service.limits;
  const isStreaming = editMillis !== undefined && service.edit !== undefined;

  const fail = (error: unknown) =>
    log.debug({ error, channel: service.name }, "a turn could not be shown while it runs");

  function hear(user: string, event: TurnEvent, id: string): void {
    if (event.type === "started") {
      const turn: ShownTurn = { text: "", item: "", shown: "", work: Promise.resolve(), isOver: false };
      turns.set(id, turn);
      turn.work = begin(user, id, turn).catch(fail);
      onNews();
      return;
    }
    if (event.type === "done" && event.status === "waiting") onNews();
    const turn = turns.get(id);
    if (turn === undefined) return;
    if (event.type === "text") {
      if (turn.item !== "" && turn.item !== event.item) turn.text += "\n\n";
      turn.item = event.item;
      turn.text += event.delta;
      plan(turn);
    } else if (event.type === "done" || event.type === "failed") {
      end(turn);
      turns.delete(id);
    }
  }

  /** Finds the answer that is owed for it. */
  async function begin(user: string, id: string, turn: ShownTurn): Promise<void> {
    for (const row of await outbox.owedBy(user)) {
      if ((await jobs.find(row.job))?.turn !== id) continue;
      turn.row = row;
      turn.reply = row.reply === null ? undefined : JSON.parse(row.reply);
      // The turn of a service that stopped begins anew: it goes on in the same message.
      const preview = await findPreview(service, row, signal);
      if (preview) turn.preview = preview;
      await service.showTyping?.(row.conversation, signal);
      plan(turn);
      return;
    }
    // It is of another channel.
    turns.delete(id);
  }

  function plan(turn: ShownTurn): void {
    if (!isStreaming || turn.isOver || !turn.row || turn.timer || turn.text.length < MIN_SHOWN) return;
    turn.timer = setTimeout(
      () => {
        turn.work = turn.work.then(() => show(turn)).catch(fail);
        turn.work.then(() => {
          delete turn.timer;
          if (turn.text !== turn.shown) plan(turn);
        }, fail);
      },
      turn.preview || turn.isBehind ? editMillis : 0,
    );
  }

  async function show(turn: ShownTurn): Promise<void> {
    const { row, text } = turn;
    const [part] = write(text).parts;
    if (turn.isOver || !row || !part || signal.aborted || text === turn.shown) return;
    turn.shown = text;
    const message: OutgoingMessage = {
      key: previewKey(row.job),
      conversation: row.conversation,
      text: part.text,
      ...(part.html === undefined ? {} : { html: part.html }),
      ...(turn.reply === undefined ? {} : { reply: turn.reply }),
    };
    if (turn.preview) return await service.edit?.(turn.preview, message, signal);
    // It would stand above an answer that comes before it.
    turn.isBehind = await outbox.isBehind(row.job);
    if (turn.isBehind) return;
    if (service.lookUp) await outbox.notePreview(row.job, {});
    const sent = await service.send(message, signal);
    if (sent.id === undefined) return;
    turn.preview = sent;
    await outbox.notePreview(row.job, sent);
  }

  function end(turn: ShownTurn): void {
    turn.isOver = true;
    clearTimeout(turn.timer);
  }

  const typing = setInterval(() => {
    const chats = new Set([...turns.values()].flatMap(({ row }) => (row ? [row.conversation] : [])));
    for (const conversation of [...chats].slice(0, MAX_TYPING))
      service.showTyping?.(conversation, signal).catch(fail);
  }, TYPING_MS).unref();

  /** Follows the turns of somebody whose message is about to become one. */
  function follow(user: string): void {
    const known = watched.get(user);
    if (known) known.since = performance.now();
    else
      watched.set(user, {
        stop: agent.watch(user, (event, { id }) => hear(user, event, id)),
        since: performance.now(),
      });
  }

  return {
    follow,
    /** Follows these, and no longer those who had nothing to wait for in a while. */
    followOnly(users: ReadonlySet<string>): void {
      for (const user of users) follow(user);
      for (const [user, { stop, since }] of watched) {
        if (performance.now() - since < IDLE_MS) continue;
        stop();
        watched.delete(user);
      }
    },
    /** Resolves when nothing more of this job is shown: its whole answer comes. */
    async settle(job: string): Promise<void> {
      for (const turn of turns.values()) {
        if (turn.row?.job !== job) continue;
        end(turn);
        await Promise.race([turn.work, new Promise((resolve) => setTimeout(resolve, END_MS).unref())]);
      }
    },
    close(): void {
      clearInterval(typing);
      for (const { stop } of watched.values()) stop();
      for (const turn of turns.values()) end(turn);
    },
  };
}
