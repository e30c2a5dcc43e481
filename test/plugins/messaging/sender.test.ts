import { expect, test } from "vitest";
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
  const store = openStore(":memory:");
  afterThisTest(() => store.close());
  const sql = await store.tables("messaging", MIGRATIONS);
  await sql.run("INSERT INTO messaging_channels (name, node, lease_until) VALUES ('chat', 'n', 0)");
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
  const outbox = openOutbox(lossy, "chat", "n");
  const place = { conversation: "c", line: "c", user: "ann", reply: undefined };
  await sql.transaction((tx) => outbox.say(tx, place, { parts: [{ text: "hello" }] }));
  const sent: string[] = [];
  const service = {
    name: "chat",
    limits: { perSecond: { conversation: 1e6, all: 1e6 } },
    async send({ text }: { readonly text: string }) {
      sent.push(text);
      return { id: "1" };
    },
  } as unknown as ChatService;
  const counter = SILENT.metrics.counter("sent", "Sent");
  const stopping = new AbortController();
  afterThisTest(() => stopping.abort());
  const sender = createSender(
    {
      ...{ service, outbox, log: QUIET, delivery: "at-least-once", load: async () => [] },
      counts: { sent: counter, failed: counter, repeated: counter },
      timing: { backoffMillis: [], sendMillis: 60_000 },
    },
    stopping.signal,
  );
  sender.wake();
  await sender.idle();
  stopping.abort();
  await sender.idle();
  expect(sent).toEqual(["hello"]);
  expect(await sql.get("SELECT count(*) AS count FROM messaging_outbox")).toEqual({ count: 0 });
});
