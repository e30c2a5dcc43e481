/** SIGTERM on one of two nodes: what runs there may end, what waits is the other's. */
import { beforeAll, expect, test } from "vitest";
import { processClock } from "../support/clock/process-clock.ts";
import { type Fleet, startFleet, TOKEN } from "../support/processes/fleet.ts";
import { describePostgres, execute, freshDatabase } from "../support/processes/postgres/database.ts";
import type { ChatRequest } from "../support/servers/model-server.ts";
import { SECRET } from "../support/services/webhook-plugins.ts";
import { afterThisFile } from "../support/undo.ts";

interface JobRow {
  readonly id: string;
  readonly status: string;
  readonly node: string | null;
  readonly response: string | null;
}

function lastText({ messages }: ChatRequest): string {
  return String(messages.findLast(({ role }) => role === "user")?.content);
}

async function call(url: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, json: await answer.json() };
}

describePostgres("SIGTERM", () => {
  const later = afterThisFile();
  let fleet: Fleet;
  let database: string;
  beforeAll(async () => {
    database = await freshDatabase(later);
    fleet = await startFleet(database, {
      size: 2,
      env: { JOBS_CONCURRENCY: "1", STOP_GRACE_SECS: "100" },
      later,
    });
  });
  const at = (node: number, path: string) => `${fleet.nodes[node]?.url}${path}`;
  const readJobs = () => execute<JobRow>(database, "SELECT id, status, node, response FROM jobs");
  const submit = async (message: string): Promise<string> => {
    const headers = { "x-webhook-secret": SECRET };
    return (await call(`${fleet.webhook.url}/webhook`, { user_id: message, message }, headers)).json.job_id;
  };

  /** Two jobs, one on each node, whose answers the test holds back; a chat that runs on the first. */
  async function occupy(names: readonly [string, string], chat: string) {
    const held = new Map([...names, chat].map((name) => [name, Promise.withResolvers<string>()]));
    const asked = new Set<string>();
    fleet.model.otherwise((request) => {
      const text = lastText(request);
      const rest = held.get(text);
      if (rest === undefined || asked.has(text)) return { text: `${text} again` };
      asked.add(text);
      return { text: ["Begun ", rest.promise] };
    });
    const ids = [await submit(names[0]), await submit(names[1])] as const;
    await expect.poll(() => asked.size).toBe(2);
    const rows = new Map((await readJobs()).map((row) => [row.id, row]));
    const stays = rows.get(ids[0])?.node === fleet.nodes[1]?.id() ? 0 : 1;
    expect(new Set(ids.map((id) => rows.get(id)?.node)).size).toBe(2);
    const talk = call(at(0, "/api/chat"), { message: chat });
    await expect.poll(() => asked.size).toBe(3);
    const end = (name: string) => held.get(name)?.resolve("and done.");
    return {
      talk,
      end,
      /** The job on the node that is to stop, and the one on the other. */
      leaving: { id: ids[1 - stays] as string, name: names[1 - stays] as string },
      staying: { id: ids[stays] as string, name: names[stays] as string },
    };
  }

  test("lets turns end, takes none, is not ready, and leaves what waits to the other node", async () => {
    const { talk, end, leaving, staying } = await occupy(["a", "b"], "chat");
    const waiting = await submit("c");
    const before = fleet.model.requests.length;
    fleet.nodes[0]?.process.kill("SIGTERM");
    await expect.poll(async () => (await fetch(at(0, "/ready"))).status).toBe(503);
    expect((await fetch(at(0, "/health"))).status).toBe(200);
    expect(await call(at(0, "/api/chat"), { message: "late" })).toMatchObject({
      status: 503,
      json: { error: { code: "stopping" } },
    });
    expect((await call(at(1, "/api/chat"), { message: "late" })).json.response).toBe("late again");

    const job = async (id: string) => (await readJobs()).find((row) => row.id === id);
    end(staying.name);
    await expect.poll(async () => (await job(waiting))?.response).toBe("c again");
    expect(await job(leaving.id)).toMatchObject({ status: "running" });
    end(leaving.name);
    end("chat");
    expect(await talk).toMatchObject({ status: 200, json: { response: "Begun and done." } });
    expect(await fleet.nodes[0]?.process.ended).toBe(0);
    expect(await job(leaving.id)).toMatchObject({ status: "completed", response: "Begun and done." });
    expect(fleet.model.requests.length).toBe(before + 2);
  });

  test("interrupts what takes longer than STOP_GRACE_SECS, and the other node runs its job again", async () => {
    const clock = processClock();
    await fleet.nodes[0]?.start(clock);
    const { talk, end, leaving, staying } = await occupy(["d", "e"], "long chat");
    fleet.nodes[0]?.process.kill("SIGTERM");
    await expect.poll(async () => (await fetch(at(0, "/ready"))).status).toBe(503);
    await clock.advance(101_000);
    await talk.catch(() => "cut off");
    expect(await fleet.nodes[0]?.process.ended).toBe(0);
    const turns = `SELECT status, error FROM turns WHERE channel = 'gateway' AND status <> 'completed'`;
    expect(await execute(database, turns)).toMatchObject([
      { status: "failed", error: expect.stringContaining("interrupted") },
    ]);
    expect((await readJobs()).find(({ id }) => id === leaving.id)).toMatchObject({ status: "queued" });
    end(staying.name);
    await expect
      .poll(async () => (await readJobs()).find(({ id }) => id === leaving.id))
      .toMatchObject({ status: "completed", response: `${leaving.name} again` });
  });
});
