import { expect, test, vi } from "vitest";
import { SILENT } from "../../../kernel/kit/log.ts";
import { Fault, type Log, type Sql } from "../../../kernel/plugin.ts";
import { openOutbox } from "../../../plugins/messaging/outbox.ts";
import { createSender } from "../../../plugins/messaging/sender.ts";
import type { ChatService } from "../../../plugins/messaging/services.ts";
import { MIGRATIONS } from "../../../plugins/messaging/tables.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { afterThisTest } from "../../support/undo.ts";

const QUIET = { debug() {}, info() {}, warn() {}, error() {} } as Log;

test("a message whose claim was committed but not heard of is sent by the next try", async () => {
  const sql = await tables();
  let isLost = true;
  const lossy: Sql = {
    ...sql,
    async all<Row>(text: string, ...values: never[]) {
      const rows = await sql.all<Row>(text, ...values);
      if (!isLost) return rows;
      isLost = false;
      throw new Fault("unavailable", "store_unavailable", "The database is away.");
    },
  };
  const { sender, sent, say, stop } = senderOf(lossy, { conversation: 1e6, all: 1e6 });
  await say("c", "hello");
  sender.wake();
  await sender.idle();
  stop();
  await sender.idle();
  expect(sent).toEqual(["hello"]);
  expect(await sql.get("SELECT count(*) AS count FROM messaging_outbox")).toEqual({ count: 0 });
});

test("a conversation that waits for its next message holds up no other", async () => {
  const sql = await tables();
  const { sender, sent, say, stop } = senderOf(sql, { conversation: 1 / 3600, all: 1e6 });
  const others = Array.from({ length: 30 }, (_, at) => `to ${at}`);
  await say("slow", "first", "second");
  for (const other of others) await say(other, other);
  sender.wake();
  await vi.waitFor(() => expect(sent.toSorted()).toEqual(["first", ...others].toSorted()));
  stop();
  await sender.idle();
  expect(await sql.all("SELECT conversation, status, done FROM messaging_outbox")).toEqual([
    { conversation: "slow", status: "waiting", done: 1 },
  ]);
});

async function tables(): Promise<Sql> {
  const store = openStore(":memory:");
  afterThisTest(() => store.close());
  const sql = await store.tables("messaging", MIGRATIONS);
  await sql.run("INSERT INTO messaging_channels (name, node, lease_until) VALUES ('chat', 'n', 0)");
  return sql;
}

function senderOf(sql: Sql, perSecond: ChatService["limits"]["perSecond"]) {
  const outbox = openOutbox(sql, "chat", "n");
  const sent: string[] = [];
  const service = {
    ...{ name: "chat", limits: { perSecond } },
    async send({ text }: { readonly text: string }) {
      sent.push(text);
      return { id: "1" };
    },
  } as unknown as ChatService;
  const counter = SILENT.metrics.counter("sent", "Sent");
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  afterThisTest(stop);
  const sender = createSender(
    {
      ...{ service, outbox, log: QUIET, delivery: "at-least-once", load: async () => [] },
      counts: { sent: counter, failed: counter, repeated: counter },
      timing: { backoffMillis: [], sendMillis: 60_000 },
    },
    stopping.signal,
  );
  const say = (conversation: string, ...texts: string[]) =>
    sql.transaction((tx) =>
      outbox.say(
        tx,
        { conversation, line: conversation, user: "ann", reply: undefined },
        { parts: texts.map((text) => ({ text })) },
      ),
    );
  return { sender, sent, say, stop };
}
