/** Callbacks: each job that somebody is to hear of is told of, whatever dies, and once where nothing went wrong. */
import { type AnyPlugin, definePlugin, type Services, type Sql } from "../../kernel/plugin.ts";
import { createCallbacks } from "../../plugins/webhook/callbacks/callbacks.ts";
import { MIGRATIONS } from "../../plugins/webhook/tables.ts";
import { insist } from "./client.ts";
import type { Part, SimulatedNode, World } from "./world.ts";

type Callbacks = Awaited<ReturnType<typeof createCallbacks>>;

declare module "../../kernel/plugin.ts" {
  interface Services {
    simulatedCallbacks: { readonly sql: Sql; readonly callbacks: Callbacks };
  }
}

const KIND = "call";

export function callbacksPart(): Part {
  const submitted = new Map<string, string | undefined>();
  /** The jobs that the receiver was told of. */
  const told: string[] = [];

  const outboundOf = (world: World, node: SimulatedNode) => ({
    async fetch(_: URL, init: { readonly body: string }, { timeoutMs }: { readonly timeoutMs: number }) {
      const { job } = JSON.parse(init.body) as { job: { id: string; response?: string } };
      const late = new Promise<never>((_resolve, reject) => {
        setTimeout(() => reject(new Error("the receiver does not answer")), timeoutMs);
      });
      await Promise.race([
        world.request(node, `callback of "${job.response}"`, () => void told.push(job.id)),
        late,
      ]);
      return { status: 200, ok: true };
    },
    close: async () => {},
  });

  const plugin = (world: World, node: SimulatedNode) =>
    definePlugin({
      name: "callbacks",
      needs: ["jobs", "store"],
      provides: ["simulatedCallbacks"],
      configure: () => ({}),
      async start({ use: { jobs, store }, log, onStop }) {
        const sql = await store.tables("webhook", MIGRATIONS);
        const target = { url: "http://receiver/", privateHosts: [], outbound: outboundOf(world, node) };
        const callbacks = await createCallbacks({ jobs, store, sql, log, target: target as never });
        onStop(() => callbacks.stop());
        return { simulatedCallbacks: { sql, callbacks } };
      },
    });

  async function submit(world: World, number: number): Promise<void> {
    const key = `h${number}`;
    submitted.set(key, undefined);
    const job = { user: "ann", channel: "webhook", message: `say ${key}`, idempotencyKey: key };
    const answer = await insist(world, async (use) => {
      const { sql, callbacks } = use("simulatedCallbacks") as Services["simulatedCallbacks"];
      return await sql.transaction((tx) => callbacks.submit(tx, job, "ann"));
    });
    if ("value" in answer) submitted.set(key, answer.value.id);
    world.note(undefined, `"${job.message}" is acknowledged, with a callback`);
  }

  const owed = async ({ database }: World) =>
    (await database.get<{ count: number }>("SELECT count(*) AS count FROM webhook_callbacks"))?.count ?? 0;
  const isUsed = ({ plan }: World) => plan.deeds.some(({ kind }) => kind === KIND);

  return {
    plugins: (world, node) => (isUsed(world) ? [plugin(world, node) as AnyPlugin] : []),
    deeds: { [KIND]: (world, { number }) => void submit(world, number) },
    isDone: async (world) =>
      !isUsed(world) ||
      ([...submitted.values()].every((id) => id !== undefined) && (await owed(world)) === 0),
    async check(world) {
      if (!isUsed(world)) return;
      for (const [key, id] of submitted) {
        const count = told.filter((one) => one === id).length;
        if (count === 0) world.violate("nothing acknowledged is lost", `nobody was called back about ${key}`);
        if (count > 1 && world.isUntroubled())
          world.violate("nothing counts twice", `${key} was called back ${count} times`);
        world.count("repeated callbacks", Math.max(0, count - 1));
      }
      const rows = await world.database.all<{ idempotency_key: string }>(
        "SELECT idempotency_key FROM jobs WHERE channel = 'webhook' GROUP BY idempotency_key HAVING count(*) > 1",
      );
      for (const row of rows) world.violate("nothing counts twice", `${row.idempotency_key} is two jobs`);
    },
  };
}
