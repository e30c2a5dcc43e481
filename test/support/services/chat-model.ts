/**
 * A world for messaging to be wrong in: people who write, a chat service that loses answers and repeats itself, and nodes that die at
 * any write or are cut off from the database. Everything that happens follows from one number. The store, jobs and messaging are real;
 * the agent only repeats what it was told, and keeps its turns in the same store.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { SILENT } from "../../../kernel/kit/log.ts";
import {
  Fault,
  type Log,
  type Services,
  type Sql,
  type Transaction,
  type TurnRecord,
} from "../../../kernel/plugin.ts";
import { createJobs } from "../../../plugins/jobs/queue/jobs.ts";
import { createJobTable } from "../../../plugins/jobs/queue/table.ts";
import { MIGRATIONS as JOBS } from "../../../plugins/jobs/queue/tables.ts";
import { createMessaging, type OpenMessaging } from "../../../plugins/messaging/messaging.ts";
import type {
  ChatService,
  IncomingMessage,
  NotSent,
  OutgoingMessage,
  SentMessage,
} from "../../../plugins/messaging/services.ts";
import { MIGRATIONS } from "../../../plugins/messaging/tables.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";
import type { StorePlace } from "../processes/engines.ts";

/** How a service tells a repeat: by a key that it knows, by a look at what it has, or not at all. */
export type Telling = "keys" | "lookUp" | "nothing";

export interface Plan {
  readonly seed: number;
  readonly telling: Telling;
  readonly messages: number;
  readonly conversations: number;
  /** At these writes of the whole run a node dies, before or after the commit. */
  readonly crashes: readonly { readonly write: number; readonly isAfter: boolean }[];
  /** How many nodes there are at a time. Each can be cut off where there are two. */
  readonly nodes: 1 | 2;
  readonly cuts: number;
  /** How likely a send goes wrong. */
  readonly trouble: number;
}

export interface Outcome {
  /** What the service has taken, in order. */
  readonly taken: readonly OutgoingMessage[];
  readonly written: readonly IncomingMessage[];
  readonly dead: readonly string[];
  /** Messages that were sent again although nobody had to wonder whether they were sent. */
  readonly needless: number;
  readonly writes: number;
}

export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const QUIET: Log = {
  ...({ debug() {}, info() {}, warn() {}, error() {}, child: () => QUIET } as unknown as Log),
};

const TIMING = {
  leaseMillis: 500,
  pollMillis: 60,
  reconnectMillis: [5],
  retryMillis: 5,
  stopMillis: 20,
  sendMillis: 200,
  backoffMillis: Array.from({ length: 60 }, () => 2),
};

/** A limit for what hangs, not for what is slow. */
const STUCK_MS = 300_000;

const TURNS = [
  "CREATE TABLE model_turns (id TEXT PRIMARY KEY, thread TEXT NOT NULL, said TEXT NOT NULL, node TEXT NOT NULL, status TEXT NOT NULL)",
];

/** What goes wrong for one node. */
interface Fate {
  isDead: boolean;
  isCut: boolean;
  wasCut: boolean;
  died: PromiseWithResolvers<void>;
}

class Gone extends Fault {
  constructor() {
    super("unavailable", "store_unavailable", "the database is away");
  }
}

const WRITES = /^\s*(?:insert|update|delete)\b/i;

/** A database connection that dies with its node at the write that the plan names. */
function dying(sql: Sql, fate: Fate, nextWrite: () => "before" | "after" | undefined): Sql {
  const assert = () => {
    if (fate.isDead || fate.isCut) throw new Gone();
  };
  const die = () => {
    fate.isDead = true;
    fate.died.resolve();
    throw new Gone();
  };
  async function act<Result>(isWrite: boolean, work: () => Promise<Result>): Promise<Result> {
    assert();
    const crash = isWrite ? nextWrite() : undefined;
    if (crash === "before") die();
    const result = await work();
    if (crash === "after") die();
    // Nobody hears the answer of a database that is away.
    assert();
    return result;
  }
  return {
    engine: sql.engine,
    all: (text, ...values) => act(WRITES.test(text), () => sql.all(text, ...values)),
    get: (text, ...values) => act(WRITES.test(text), () => sql.get(text, ...values)),
    run: (text, ...values) => act(WRITES.test(text), () => sql.run(text, ...values)),
    async transaction(work, options) {
      assert();
      const crash = nextWrite();
      const result = await sql.transaction(async (tx) => {
        const done = await work(tx);
        if (crash === "before") die();
        assert();
        return done;
      }, options);
      if (crash === "after") die();
      assert();
      return result;
    },
  };
}

interface ChatNode {
  readonly fate: Fate;
  readonly messaging: OpenMessaging;
  readonly jobs: ReturnType<typeof createJobs>;
  readonly id: string;
  close(): Promise<void>;
}

/** Plays the plan to its end: until everything that was written is answered or given up. */
export async function play(place: StorePlace, plan: Plan): Promise<Outcome> {
  const chance = random(plan.seed);
  const taken: OutgoingMessage[] = [];
  const written: IncomingMessage[] = Array.from({ length: plan.messages }, (_, at) => ({
    id: `m${at}`,
    conversation: `c${Math.floor(chance() * plan.conversations)}`,
    sender: { id: "ann" },
    text: `message ${at}`,
  }));
  let needless = 0;
  /** Who sent each the last time, and whether they were told that it was taken. */
  const senders = new Map<string, { readonly fate: Fate; readonly isTold: boolean }>();
  let writes = 0;
  const crashes = new Map(
    plan.crashes.map(({ write, isAfter }) => [write, isAfter ? "after" : "before"] as const),
  );
  const nextWrite = () => crashes.get(++writes);

  function take(message: OutgoingMessage, fate: Fate, isTold: boolean): SentMessage {
    const before = senders.get(message.key);
    // Whoever died or was cut off may have been told, and could not write it down.
    if (before?.isTold && before.fate === fate && !fate.wasCut) needless++;
    senders.set(message.key, { fate, isTold });
    const known = taken.findIndex(({ key }) => key === message.key);
    if (plan.telling === "keys" && known !== -1) return { id: String(known) };
    return { id: String(taken.push(message)) };
  }

  /** One request to the service: it may fail before or after the message is taken, be slow, or end with the caller. */
  async function send(
    message: OutgoingMessage,
    fate: Fate,
    signal: AbortSignal,
  ): Promise<SentMessage | NotSent> {
    if (fate.isDead) throw new Gone();
    const [isTrouble, kind] = [chance() < plan.trouble, chance()];
    const isTakenLate = chance() < 0.5;
    const ended = Promise.race([
      sleep(Math.floor(chance() * 6)),
      fate.died.promise,
      new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true })),
    ]);
    const lose = (isTaken: boolean): never => {
      if (isTaken) take(message, fate, false);
      throw new Error("the connection broke");
    };
    await ended;
    // Who asked is gone or has given up: the request may have come through.
    if (fate.isDead || signal.aborted) return lose(isTakenLate);
    if (!isTrouble) return take(message, fate, true);
    if (kind < 0.3) return lose(true);
    if (kind < 0.5) return lose(false);
    if (kind < 0.95) return { message: "slow down", retryMillis: Math.floor(kind * 10) };
    return { message: "The chat is gone.", isFinal: true };
  }

  function serviceOf(fate: Fate): ChatService {
    return {
      name: "chat",
      format: "plain",
      limits: { characters: 1000, fileBytes: 1, buttons: 0, perSecond: { conversation: 1e6, all: 1e6 } },
      ...(plan.telling === "keys" ? { hasKeys: true } : {}),
      ...(plan.telling === "lookUp"
        ? {
            async lookUp({ key }) {
              if (fate.isDead) throw new Gone();
              if (chance() < plan.trouble / 2) throw new Error("the connection broke");
              const at = taken.findIndex((one) => one.key === key);
              return at === -1 ? undefined : { id: String(at + 1) };
            },
          }
        : {}),
      async receive(inbox, signal) {
        let at = Number((await inbox.position()) ?? 0);
        while (!signal.aborted && !fate.isDead) {
          // Now and then the service forgets what was acknowledged, or says the same twice in one go.
          if (chance() < 0.15) at = Math.floor(chance() * (at + 1));
          const batch = written.slice(at, at + 1 + Math.floor(chance() * 3));
          if (batch.length > 0) {
            const doubled = chance() < 0.3 ? [...batch, ...batch] : batch;
            at += batch.length;
            await inbox.accept(doubled, String(at));
          }
          await sleep(Math.floor(chance() * 8), undefined, { signal }).catch(() => {});
        }
        if (fate.isDead) throw new Gone();
      },
      send: (message, signal) => send(message, fate, signal),
      check: async () => ({ detail: "" }),
    };
  }

  async function start(): Promise<ChatNode> {
    const store = await place.open();
    const fate: Fate = { isDead: false, isCut: false, wasCut: false, died: Promise.withResolvers() };
    const tables: OpenStore["tables"] = async (owner, migrations) =>
      dying(await store.tables(owner, migrations), fate, nextWrite);
    const node = { ...store, tables };
    const turns = await tables("model", TURNS);
    const agent = repeatingAgent(turns, store.node.id, chance, fate);
    const jobs = createJobs({
      table: createJobTable(await tables("jobs", JOBS), node),
      agent,
      store,
      storage: { take: async () => {} },
      threads: agent.threads,
      log: QUIET,
      concurrency: 4,
      retentionDays: 1,
    });
    const messaging = createMessaging({
      config: { delivery: "at-least-once" },
      sql: await tables("messaging", MIGRATIONS),
      store: node,
      jobs,
      threads: agent.threads,
      agent: { chatLimit: { take: async () => ({ ok: true }) }, watch: () => () => {} },
      identities: { account: async () => "ann" },
      accounts: { listUsers: async () => [], find: async () => undefined },
      approvals: { pending: async () => [] },
      attachments: { bring: async () => ({ attachments: [], attached: [] }) },
      telemetry: SILENT,
      log: QUIET,
      isServing: true,
      timing: TIMING,
    } as unknown as Parameters<typeof createMessaging>[0]);
    const close = async () => {
      jobs.stop();
      await messaging.close();
      await jobs.idle();
      await store.close();
    };
    try {
      await agent.closeTurns(plan.nodes === 1 ? undefined : store.node.living);
      await jobs.start();
      await messaging.open(serviceOf(fate));
    } catch (error) {
      await close();
      if (error instanceof Gone) return start();
      throw error;
    }
    return { fate, messaging, jobs, id: store.node.id, close };
  }

  const probe = await place.open();
  const sql = await probe.tables("messaging", MIGRATIONS);
  const jobsSql = await probe.tables("jobs", JOBS);
  const isDone = async (): Promise<boolean> => {
    const [inbox, owed, open] = await Promise.all([
      sql.get<{ all: number; new: number }>(
        'SELECT count(*) AS "all", count(message) AS "new" FROM messaging_inbox',
      ),
      sql.get<{ count: number }>("SELECT count(*) AS count FROM messaging_outbox WHERE status <> 'dead'"),
      jobsSql.get<{ count: number }>("SELECT count(*) AS count FROM jobs WHERE status <> 'completed'"),
    ]);
    return Number(inbox?.all) === plan.messages && ![inbox?.new, owed?.count, open?.count].some(Number);
  };

  let nodes = await Promise.all(Array.from({ length: plan.nodes }, start));
  const since = performance.now();
  for (let cuts = plan.cuts; !(await isDone()); ) {
    if (performance.now() - since > STUCK_MS) throw new Error(await describeStuck(plan, sql, jobsSql));
    const gone = nodes.filter(({ fate }) => fate.isDead);
    if (gone.length > 0) {
      nodes = nodes.filter((node) => !gone.includes(node));
      for (const node of gone) await node.close();
      while (nodes.length < plan.nodes) nodes.push(await start());
      for (const { fate, jobs } of nodes) if (!fate.isDead) await jobs.takeOver().catch(() => {});
    } else if (cuts > 0 && chance() < 0.05) {
      cuts--;
      const [cut] = nodes;
      if (cut) {
        cut.fate.isCut = true;
        cut.fate.wasCut = true;
        await sleep(TIMING.leaseMillis * 2);
        cut.fate.isCut = false;
      }
    }
    // As the agent does now and then: a claim may have been committed unheard.
    if (chance() < 0.05)
      for (const { fate, jobs } of nodes) if (!fate.isDead) await jobs.takeOver().catch(() => {});
    await sleep(10);
  }
  const dead = await sql.all<{ job: string; content: string }>(
    "SELECT job, content FROM messaging_outbox WHERE status = 'dead'",
  );
  await Promise.all(nodes.map((node) => node.close()));
  await probe.close();
  return {
    taken,
    written,
    needless,
    writes,
    dead: dead.map(
      ({ content }) => (JSON.parse(content) as { parts: { text: string }[] }).parts[0]?.text ?? "",
    ),
  };
}

/** For a run that comes to no end. */
async function describeStuck(plan: Plan, sql: Sql, jobs: Sql): Promise<string> {
  const rows = await Promise.all([
    sql.all("SELECT * FROM messaging_channels"),
    sql.all("SELECT seq, id, line, message, job FROM messaging_inbox"),
    sql.all("SELECT seq, line, job, status, unsure, attempts, due_at, holder, message FROM messaging_outbox"),
    jobs.all("SELECT id, status, turn, node, attempts, conversation FROM jobs WHERE status <> 'completed'"),
    jobs.all("SELECT * FROM model_turns WHERE status <> 'completed'"),
  ]);
  return `stuck: ${JSON.stringify(plan)}\n${rows.map((one) => JSON.stringify(one)).join("\n")}`;
}

/** Says what it was told; its turns are rows, as the real one's are. */
function repeatingAgent(sql: Sql, node: string, chance: () => number, fate: Fate) {
  interface Row {
    readonly id: string;
    readonly thread: string;
    readonly said: string;
    readonly status: "running" | "completed" | "interrupted";
  }
  const recordOf = ({ id, thread, said, status }: Row) =>
    ({
      id,
      thread,
      user: "ann",
      status: status === "interrupted" ? "failed" : status,
      items: [{ type: "message", id: `${id}-1`, role: "assistant", text: said }],
      ...(status === "interrupted" ? { error: { code: "interrupted", message: "It was interrupted." } } : {}),
    }) as unknown as TurnRecord;
  const turn = async (_: string, id: string) => {
    const row = await sql.get<Row>("SELECT id, thread, said, status FROM model_turns WHERE id = ?", id);
    return row && recordOf(row);
  };
  async function closeUnheard(id: string): Promise<void> {
    while (!fate.isDead) {
      try {
        return void (await sql.run("UPDATE model_turns SET status = 'interrupted' WHERE id = ?", id));
      } catch {
        await sleep(20);
      }
    }
  }
  return {
    async run(
      { id = "", input, thread = `t-${id}` }: { id?: string; input: { text?: string }; thread?: string },
      alongside: unknown,
    ) {
      try {
        await sql.transaction(async (tx) => {
          await (alongside as (tx: Transaction, turn: object) => Promise<void>)(tx, { id, thread });
          await tx.run(
            "INSERT INTO model_turns (id, thread, said, node, status) VALUES (?, ?, ?, ?, 'running')",
            ...[id, thread, `answer to ${input.text}`, node],
          );
        });
      } catch (error) {
        // The commit may have gone through unheard: such a turn is closed, since nobody runs it.
        await closeUnheard(id);
        throw error;
      }
      const record = (async () => {
        await sleep(Math.floor(chance() * 10));
        // A database that is away for a moment only makes the end of a turn late.
        for (;;) {
          try {
            await sql.run("UPDATE model_turns SET status = 'completed' WHERE id = ?", id);
            return (await turn("ann", id)) as TurnRecord;
          } catch (error) {
            if (fate.isDead) throw error;
            await sleep(20);
          }
        }
      })();
      record.catch(() => {});
      return { id, thread, record };
    },
    cancel: async () => false,
    threads: {
      find: async (_: string, id: string) => ({ id }),
      isBinned: async () => false,
      turn,
      hadSideEffects: async () => false,
      unsay: async () => {},
      forgetRecords: async () => {},
    },
    /** What ran on nodes that are gone was interrupted. */
    closeTurns: (living?: string) =>
      sql.run(
        `UPDATE model_turns SET status = 'interrupted' WHERE status = 'running' ${living === undefined ? "" : `AND node NOT IN ${living}`}`,
      ),
  } as unknown as Pick<Services["agent"], "run" | "cancel"> & {
    readonly threads: Services["threads"];
    closeTurns(living?: string): Promise<number>;
  };
}
