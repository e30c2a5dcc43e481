import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { TurnRecord } from "../../../kernel/plugin.ts";
import { temporaryFolder } from "../../support/home.ts";
import { bootWebhook, client, completed } from "../../support/webhook.ts";
import { startWebhookProcess } from "../../support/webhook-process.ts";

const KILLS = 5;
const PER_SECOND = 50;
const USERS = 7;

test("killed at random moments under load, every acknowledged job completes exactly once or says why not", async () => {
  const home = temporaryFolder();
  // What the operating system gave for port 0 stays free for the restarts.
  let service = await startWebhookProcess(home);
  onTestFinished(() => service.kill());
  const { port } = new URL(service.url);
  const acknowledged = new Map<string, string>();

  let isOver = false;
  const load = (async () => {
    const sent: Promise<void>[] = [];
    for (let count = 0; !isOver; count++) {
      sent.push(submit(service.url, `user-${count % USERS}`, `hello number ${count}`, acknowledged));
      await sleep(1000 / PER_SECOND);
    }
    await Promise.all(sent);
  })();
  for (let kills = 0; kills < KILLS; kills++) {
    const enough = acknowledged.size + 10 + Math.random() * 50;
    while (acknowledged.size < enough) await sleep(Math.random() * 20);
    await service.kill();
    service = await startWebhookProcess(home, { HTTP_PORT: port });
  }
  isOver = true;
  await load;

  const { get } = client(service.url);
  for (const id of acknowledged.keys()) {
    const job = await completed({ get }, id);
    expect(job.response).toMatch(/./);
    // Nothing here calls a tool, so nothing may give up: an interrupted job is simply run again.
    expect(job.error).toBeUndefined();
  }
  await service.kill();
  await expectAnsweredOnce(home, acknowledged);
}, 120_000);

async function submit(url: string, user: string, message: string, acknowledged: Map<string, string>) {
  try {
    const { status, json } = await client(url).post({ user_id: user, message });
    if (status === 200) acknowledged.set(json.job_id, message);
  } catch {
    // It was being killed: nothing was acknowledged, nothing is owed.
  }
}

/** Reads the threads as they are on disk: a message may have been begun twice, and answered only once. */
async function expectAnsweredOnce(home: string, acknowledged: ReadonlyMap<string, string>): Promise<void> {
  const { kernel } = await bootWebhook({}, { home });
  const threads = kernel.service("threads");
  const answered = new Map<string, number>();
  const count = ({ status, input }: TurnRecord) => {
    if (status !== "completed" || input.type !== "message") return;
    answered.set(input.text, (answered.get(input.text) ?? 0) + 1);
  };
  for (let user = 0; user < USERS; user++) {
    for (let before: string | undefined, first = true; first || before !== undefined; first = false) {
      const page = threads.list(`user-${user}`, { limit: 100, ...(before !== undefined && { before }) });
      for (const { id } of page.items) threads.turns(`user-${user}`, id).items.forEach(count);
      before = page.next;
    }
  }
  for (const message of acknowledged.values()) expect([message, answered.get(message)]).toEqual([message, 1]);
}
