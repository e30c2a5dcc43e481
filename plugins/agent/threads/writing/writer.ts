/** One open turn: its items in memory and, as they happen, in the store; then its end. */
import { isCutShort, NO_USAGE } from "../../../../kernel/kit/turns.ts";
import type {
  Fault,
  ModelName,
  Sql,
  TokenScope,
  Transaction,
  TurnItem,
  TurnRecord,
  TurnStatus,
  Usage,
} from "../../../../kernel/plugin.ts";
import type { Node } from "../../../store/services.ts";
import type { Turn } from "../../services.ts";
import { type Attached, writeAttached } from "../attachments/stored.ts";
import { closeTurn, countTurn, type Ending, TAKEN_OVER } from "../end.ts";
import type { News } from "../news.ts";
import { dropQueued, putBack } from "../queued.ts";
import { COUNT_TURN } from "../tables.ts";
import type { ThreadTexts } from "../texts.ts";
import { NO_SUMMARY, removeThread } from "../thread-row.ts";
import type { OpenedTurn } from "../turn-opener.ts";
import { hasWaiting, type Message, putBackMessages, takeWaiting, unheardIn } from "../waiting.ts";
import { createCallRecords } from "./call-records.ts";
import type { Said } from "./pieces.ts";
import { createWriteQueue } from "./write-queue.ts";

export type TurnWriter = ReturnType<typeof createTurnWriter>;

/** As much of it as a turn needs while it runs. */
export type RunningWriter = Pick<
  TurnWriter,
  | (
      | "id"
      | "thread"
      | "seq"
      | "after"
      | "openedAt"
      | "items"
      | "chosen"
      | "summary"
      | "isFirst"
      | "isBranched"
      | "records"
    )
  | ("say" | "put" | "hold" | "add" | "attach" | "take" | "tell" | "setModel" | "markWrote")
>;

interface Started {
  readonly provider: string;
  readonly model: string;
  readonly isChosen: number;
}

const BEGIN = `UPDATE turns SET status = 'running',
    provider = coalesce((SELECT provider FROM threads WHERE id = turns.thread), ?),
    model = coalesce((SELECT model FROM threads WHERE id = turns.thread), ?)
  WHERE id = ? AND node = ? AND status = 'queued' AND NOT EXISTS (
    SELECT 1 FROM turns AS other INDEXED BY turns_open
    WHERE other.thread = ? AND other.seq < ? AND other.status IN ('queued', 'running'))
  RETURNING provider, model,
    (SELECT count(*) FROM threads WHERE threads.id = turns.thread AND threads.model IS NOT NULL) AS "isChosen"`;

const TELL = "UPDATE turns SET news = ? WHERE id = ? AND node = ?";

export function createTurnWriter(
  {
    sql,
    texts,
    node: { id: node, living },
  }: { readonly sql: Sql; readonly texts: ThreadTexts; readonly node: Pick<Node, "id" | "living"> },
  start: OpenedTurn & { readonly turn: Turn; readonly model: ModelName },
) {
  const { turn, id, thread, seq, after, items, isBranched } = start;
  // If it was taken over by another node, nothing that this one still says counts.
  const own = { id, node };
  let current: Pick<
    TurnRecord,
    "status" | "model" | "usage" | "error" | "gate" | "incomplete" | "completedAt"
  > = { status: start.status, model: start.model, usage: NO_USAGE };
  let chosen =
    start.before === undefined ? (turn.answer?.model as ModelName | undefined) : start.before.model;
  let hasWritten = false;
  /** Messages that it took and did not come to. */
  let unheard: readonly Message[] = [];
  const isHeard = ({ id }: TurnItem) => unheard.every((message) => message.id !== id);
  const job = turn.work?.job;
  const records = job === undefined ? undefined : createCallRecords(sql, own, job);
  const { promise: gone, resolve: tellGone } = Promise.withResolvers<Fault | undefined>();
  async function foundGone(): Promise<void> {
    const find = "SELECT 1 AS one FROM turns WHERE id = ?";
    const isThere = await sql.get(find, id).catch(() => true);
    tellGone(isThere === undefined ? undefined : TAKEN_OVER);
  }
  const queue = createWriteQueue(sql, {
    own,
    items,
    keepsPieces: turn.keeping?.keepsPieces ?? false,
    isMute: turn.keeping?.ephemeral ?? false,
    onGone: () => void foundGone(),
  });

  const writeEnd = (tx: Transaction, ending: Ending, usage: Usage, now: string) => {
    const closing = { ...own, thread, isBranched, model: current.model, openedAt: start.now };
    if (turn.keeping?.ephemeral) {
      countTurn(tx, closing, ending.status, usage, now);
      queue.writeBesides(tx);
      void removeThread(tx, thread);
      return Promise.resolve(undefined);
    }
    const next = closeTurn(tx, closing, ending, usage, now);
    if (start.status === "queued") void dropQueued(tx, id);
    // It sees whether the turn was taken over only now that its row is locked.
    if (!isCutShort(ending)) void records?.close(tx);
    queue.writeItems(tx);
    // All that was said, also to begin with: the index is written once for a turn.
    putBackMessages(tx, { ...own, thread }, unheard);
    for (const item of items)
      if (isHeard(item) && item.type === "message" && item.text !== "")
        texts.addMessage(tx, item.id, thread, item.text);
    queue.writeBesides(tx);
    tx.last(COUNT_TURN, id, node, thread);
    return next;
  };

  const endedAs = (ending: Ending, usage: Usage, now: string): typeof current => ({
    status: ending.status,
    model: current.model,
    usage: ending.total ?? usage,
    completedAt: now,
    error: ending.error,
    gate: ending.gate,
    incomplete: ending.incomplete,
  });

  return {
    id,
    thread,
    seq,
    after,
    openedAt: start.now,
    items: items as readonly TurnItem[],
    /** The model that was chosen for its thread; known when it has begun. */
    get chosen() {
      return chosen;
    },
    /** The summary of its thread, where nobody can have changed it since the turn was opened. */
    summary: start.status === "queued" ? undefined : (start.before?.summary ?? NO_SUMMARY),
    isFirst: start.before === undefined && !turn.preamble?.history?.length,
    isBranched,
    isUntitled: start.before === undefined ? turn.keeping?.wantsTitle === true : start.before.isUntitled,
    /** Keeps text of an item that is not whole yet; `tell` is called when it is stored, in the order of the texts. */
    say: (item: string, deltas: readonly string[], tell: Said["tell"], type: Said["type"] = "text") =>
      queue.say({ item, deltas, type, tell }),
    put: queue.put,
    hold: queue.hold,
    add: queue.add,
    /** Keeps what its message tells besides, with the next items. */
    tell(news: News): void {
      queue.add((tx) => void tx.run(TELL, JSON.stringify(news), id, node));
    },
    /** Keeps bytes that an item names, along with that item. */
    attach(attached: readonly Attached[]): void {
      for (const one of attached) queue.add((tx) => void writeAttached(tx, sql.engine, own, one));
    },
    /** Runs it if it is first in line: "waiting" if an earlier turn is still open, "gone" if others closed or removed it. */
    async begin(model: ModelName): Promise<"running" | "waiting" | "gone"> {
      // Its thread may have got another model while it waited.
      const [provider, name] = [model.provider, model.name];
      const begun = await sql.get<Started>(BEGIN, provider, name, id, node, thread, seq);
      if (begun !== undefined) {
        const named = { provider: begun.provider, name: begun.model };
        chosen = begun.isChosen > 0 ? named : undefined;
        current = { ...current, status: "running", model: named };
        return "running";
      }
      const read = "SELECT status, node FROM turns WHERE id = ?";
      const row = await sql.get<{ status: TurnStatus; node: string | null }>(read, id);
      if (row?.status === "queued" && row.node === node) return "waiting";
      // Whoever takes over from a node removes what its jobs will say again.
      const find = `SELECT 1 AS one WHERE CAST(? AS TEXT) IN ${living}`;
      const isTakenOver = row !== undefined || (await sql.get(find, node)) === undefined;
      tellGone(isTakenOver ? TAKEN_OVER : undefined);
      return "gone";
    },
    /** It waits again, as if it had not begun. */
    putBack: () => putBack(sql, own),
    /** Takes the messages that wait for it, which are its items from then on. */
    async take(scopes: readonly TokenScope[]): Promise<readonly Message[]> {
      if (!(await hasWaiting(sql, thread))) return [];
      // What was said before them stands before them.
      await queue.put();
      const taken = await takeWaiting(sql, { ...own, thread, seq }, scopes);
      for (const item of taken) queue.adopt(item);
      return taken;
    },
    setModel(model: ModelName): void {
      current = { ...current, model };
    },
    /** Absent in a turn that is not run again. */
    records,
    /** A tool that can change the world outside is about to be called. On disk when it resolves; false where the turn is gone. */
    async markWrote(): Promise<boolean> {
      hasWritten ||= (await sql.run("UPDATE turns SET wrote = 1 WHERE id = ? AND node = ?", id, node)) > 0;
      if (!hasWritten) await foundGone();
      return hasWritten;
    },
    /** Resolves when a write finds that the turn is gone: with nothing if its thread is too, with a fault if another node took it over. */
    gone,
    /** Resolves when the end is on disk, with the node of the turn that waits for it. After a rejection, call it again. */
    async finish(ending: Ending, usage: Usage): Promise<string | undefined> {
      const now = new Date().toISOString();
      current = endedAs(ending, usage, now);
      unheard = isCutShort(ending) ? unheardIn(items) : [];
      return (await queue.end((tx) => writeEnd(tx, ending, usage, now)))?.node;
    },
    /** Its record has this end from now on, which is still to be stored. */
    assume(ending: Ending, usage: Usage): void {
      current = endedAs(ending, usage, new Date().toISOString());
    },
    /** Whether its end is stored: a commit may have been made though its answer was lost. */
    async hasEnded(): Promise<boolean> {
      const open = "SELECT 1 FROM turns WHERE id = ? AND status IN ('queued', 'running')";
      return (await sql.get(open, id)) === undefined;
    },
    record: (): TurnRecord => ({
      id,
      thread,
      after,
      user: turn.user,
      channel: turn.channel,
      input: turn.input,
      outside: turn.preamble?.outside,
      items: queue.items().filter(isHeard),
      createdAt: start.now,
      ...current,
    }),
  };
}
