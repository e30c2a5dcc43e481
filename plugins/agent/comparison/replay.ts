/** Replays a stored turn with another model, as the agent runs any turn: only nothing of it is stored, and no tool is called. */
import { randomUUIDv7 } from "node:crypto";
import { SILENT } from "../../../kernel/kit/log.ts";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { answerText } from "../../../kernel/kit/turns.ts";
import type { Sql, Transaction, TurnItem } from "../../../kernel/plugin.ts";
import type { Model } from "../../models/services.ts";
import { createContext } from "../context/window.ts";
import { createObservers } from "../live/observer.ts";
import type { ComparedSide, Turn } from "../services.ts";
import type { TurnSettings } from "../settings.ts";
import { namedIn } from "../threads/attachments/stored.ts";
import { spentColumns } from "../threads/end.ts";
import type { History } from "../threads/history.ts";
import { beginningOf } from "../threads/resume.ts";
import { findThread, NO_SUMMARY, readTools, type Summary } from "../threads/thread-row.ts";
import type { RunningWriter } from "../threads/writing/writer.ts";
import { type RanTurn, type RunParts, runTurn } from "../turn/run.ts";
import { createRecordedCalls, type RecordedCalls } from "./recorded-calls.ts";
import { callsIn, itemsOf, type StoredTurn } from "./stored-turns.ts";

export interface ReplayParts extends Omit<RunParts, "context" | "observers" | "sql" | "replaceTools"> {
  readonly sql: Sql;
  readonly history: History;
  settings(): Promise<TurnSettings>;
}

/** The operator pays, whoever's turn it is. */
export async function replay(
  parts: ReplayParts,
  stored: StoredTurn,
  model: Model,
  signal: AbortSignal,
): Promise<ComparedSide> {
  const { sql, history, sources, models, mask, log } = parts;
  const recorded = createRecordedCalls(itemsOf(stored), sources.own());
  const context = createContext(sql, history, false);
  const row = await findThread(sql, stored.records[0].user, stored.thread);
  const isOlder = (row?.summary.to ?? 0) < stored.seq;
  const { writer, written } = createMemoryWriter(sql, stored, recorded, {
    model,
    summary: isOlder && row ? row.summary : NO_SUMMARY,
  });
  const turn = await turnOf(sql, stored, context.attachments);
  const stopper = new AbortController();
  const stop = () => stopper.abort();
  signal.addEventListener("abort", stop, { once: true });
  const began = performance.now();
  const ran = await runTurn(
    {
      ...parts,
      context,
      observers: createObservers(SILENT, mask, log, false),
      sources: { ...sources, approvals: { ...sources.approvals, forgetOthers: async () => {} } },
      models: {
        ...models,
        chain: async () => [model],
        openPurses: async () => [],
        assertLeft: (_user, cap, scopes) => models.assertLeft(OPERATOR, cap, scopes),
        spend: (tx, _user, usage, scopes) => models.spend(tx, OPERATOR, usage, scopes),
      },
      replaceTools: recorded.replace,
    },
    { turn, writer, stopper, scopes: [], hasToWait: false, beginning: beginningOf(turn, undefined) },
    await parts.settings(),
    () => {},
  );
  signal.removeEventListener("abort", stop);
  const millis = Math.round(performance.now() - began);
  await written();
  await sql.transaction((tx) => countReplay(tx, stored, model, ran, millis));
  return {
    model: model.name,
    answer: answerText(writer),
    calls: callsIn(writer.items),
    usage: ran.usage,
    millis,
    questions: recorded.questions(),
    ...(ran.ending.error && { error: ran.ending.error }),
  };
}

async function turnOf(
  sql: Sql,
  { thread, records: [{ user, channel, input }], preamble }: StoredTurn,
  read: ReturnType<typeof createContext>["attachments"],
): Promise<Turn> {
  const ids = namedIn({ user, channel, input }).map(({ id }) => id);
  const [tools, bytes] = await Promise.all([readTools(sql, user, thread), read(thread, ids)]);
  const attached = [...bytes].map(([id, data]) => ({ id, data }));
  return { ...{ user, channel, thread, input, attached, preamble }, answer: { tools } };
}

/** Keeps what a replay says in memory; what it costs is written at once, before it may spend more. */
function createMemoryWriter(
  sql: Sql,
  { thread, seq, records: [{ createdAt, items: stored }] }: StoredTurn,
  recorded: RecordedCalls,
  { model, summary }: { readonly model: Model; readonly summary: Summary },
) {
  const items = stored.filter((item) => item.type === "message" && item.role !== "assistant");
  let written: Promise<unknown> = Promise.resolve();
  const place = (given: TurnItem): void => {
    const attachments = given.type === "tool_result" ? recorded.attachmentsOf(given.call) : undefined;
    const item = attachments ? ({ ...given, attachments } as TurnItem) : given;
    const at = items.findIndex(({ id }) => id === item.id);
    if (at === -1) items.push(item);
    else items[at] = item;
  };
  const writer: RunningWriter = {
    take: async () => [],
    ...{ id: randomUUIDv7(), thread, seq, after: undefined, openedAt: createdAt, items, summary },
    ...{ chosen: model.name, isFirst: false, isBranched: true, records: undefined },
    say: (_item, deltas, tell) => tell(deltas.join("")),
    async put(...given) {
      given.forEach(place);
      await written;
    },
    hold: place,
    add(write) {
      const spend = async (tx: Transaction) => write(tx);
      written = written.then(() => sql.transaction(spend));
    },
    attach() {},
    tell() {},
    setModel() {},
    markWrote: async () => true,
  };
  return { writer, written: () => written };
}

/** For `usage`: it was a turn of the operator's, on no thread. */
async function countReplay(
  tx: Transaction,
  { seq }: StoredTurn,
  { name: { provider, name } }: Model,
  { ending, usage }: RanTurn,
  millis: number,
): Promise<void> {
  const figures = {
    created_at: new Date().toISOString(),
    turn: randomUUIDv7(),
    seq,
    user: OPERATOR,
    channel: "compare",
    ...{ provider, model: name, status: ending.status, ...spentColumns(usage), millis },
  };
  const columns = Object.keys(figures).map((column) => `"${column}"`);
  const add = `INSERT INTO turn_figures (${columns}) VALUES (${columns.map(() => "?")})`;
  await tx.run(add, ...Object.values(figures));
}
