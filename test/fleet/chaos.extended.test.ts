/** Three nodes under load while each is killed in turn, and the database once. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startFleet, TOKEN } from "../support/processes/fleet.ts";
import { describePostgres, execute } from "../support/processes/postgres/database.ts";
import { startPostgres } from "../support/processes/postgres/server.ts";
import { SECRET } from "../support/services/webhook-plugins.ts";
import { afterThisTest } from "../support/undo.ts";

/** Each node twice. */
const KILLS = 6;
const USERS = 7;
const LIMIT = 20;
const WINDOW_MS = 60_000;

/** Who sends does not wait for ever: a node that was killed answers nothing. */
const PATIENCE_MS = 20_000;

async function post(url: string, headers: Record<string, string>, body: unknown) {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const text = await answer.text();
    return { status: answer.status, json: answer.ok ? JSON.parse(text) : undefined };
  } catch {
    return { status: 0, json: undefined };
  }
}

describePostgres("a fleet", () => {
  test(`${KILLS} kills: every acknowledged job is answered once, every turn ends, no limit is exceeded`, async () => {
    const postgres = await startPostgres({ fsync: true });
    afterThisTest(() => postgres.close());
    const { nodes, gateway, webhook, model } = await startFleet(postgres.url, {
      env: { CHAT_RATE_LIMIT: String(LIMIT) },
    });
    model.otherwise(({ messages }) => {
      const said = messages.findLast(({ role }) => role === "user")?.content;
      const text = typeof said === "string" ? said : (said?.[0]?.text ?? "");
      return { text: ["You said ", text], delay: 20 };
    });

    const acknowledged = new Map<string, string>();
    let isOver = false;
    let sent = 0;
    let refused = 0;
    const submitting = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const message = `number ${sent++}.`;
        const body = { user_id: `user-${sent % USERS}`, message };
        const { status, json } = await post(`${webhook.url}/webhook`, { "x-webhook-secret": SECRET }, body);
        if (status === 200) acknowledged.set(json.job_id, message);
        else refused++;
        await sleep(20);
      }
    });
    const passed: { readonly sent: number; readonly answered: number }[] = [];
    const chatting = (async () => {
      while (!isOver) {
        const sentAt = Date.now();
        const { status } = await post(
          `${gateway.url}/api/chat/send`,
          { authorization: `Bearer ${TOKEN}` },
          { message: "hello" },
        );
        if (status === 202) passed.push({ sent: sentAt, answered: Date.now() });
        await sleep(100);
      }
    })();

    for (let round = 0; round < KILLS; round++) {
      const some = acknowledged.size + 50;
      await expect.poll(() => acknowledged.size).toBeGreaterThan(some);
      const node = nodes[round % nodes.length];
      node?.process.kill("SIGKILL");
      await node?.process.ended;
      if (round === 2) {
        await postgres.kill();
        // Until the nodes have met it.
        const failed = refused;
        await expect.poll(() => refused).toBeGreaterThan(failed + 5);
        await postgres.start();
      }
      await node?.start();
    }
    isOver = true;
    await Promise.all([...submitting, chatting]);

    const open = "SELECT count(*)::int AS count FROM jobs WHERE status <> 'completed'";
    await expect.poll(async () => (await execute<{ count: number }>(postgres.url, open))[0]?.count).toBe(0);
    const jobs = await execute<{ id: string; response: string; error: string | null }>(
      postgres.url,
      "SELECT id, response, error FROM jobs",
    );
    const byId = new Map(jobs.map((job) => [job.id, job]));
    for (const [id, message] of acknowledged) {
      expect(byId.get(id)).toMatchObject({ response: `You said ${message}`, error: null });
    }
    const doubled = await execute(
      postgres.url,
      `SELECT input, count(*) FROM turns WHERE channel = 'webhook' AND status = 'completed'
       GROUP BY input HAVING count(*) > 1`,
    );
    expect(doubled).toEqual([]);
    const stillOpen = "SELECT id FROM turns WHERE status IN ('queued', 'running')";
    await expect.poll(() => execute(postgres.url, stillOpen)).toEqual([]);
    // A place was taken at some moment between the two: only those wholly within a window certainly count in it.
    for (const { sent: from } of passed) {
      const within = passed.filter(({ sent, answered }) => sent >= from && answered < from + WINDOW_MS);
      expect(within.length).toBeLessThanOrEqual(LIMIT);
    }
  });
});
