/** Submissions at a steady rate to a service that is killed at random moments and started again. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Services } from "../../../kernel/plugin.ts";
import { identityOf } from "../../../kernel/vocabulary/user.ts";
import { freePort } from "../servers/port.ts";
import { SECRET } from "../services/webhook-plugins.ts";
import { startWebhookProcess } from "./webhook-process.ts";

export interface Ordeal {
  /** The message of every job that was acknowledged, by the job's id. */
  readonly acknowledged: ReadonlyMap<string, string>;
  readonly kills: number;
  /** What every acknowledged job became, once all have completed. */
  readonly outcomes: readonly { readonly response?: string; readonly error?: { readonly code: string } }[];
}

const USERS = 7;
const headers = { "content-type": "application/json", "x-webhook-secret": SECRET };

/** Goes on until the function says that it was enough; then lets every acknowledged job complete. */
export async function submitUnderKills(
  home: string,
  perSecond: number,
  isEnough: (kills: number) => boolean,
): Promise<Ordeal> {
  const settings = { HTTP_PORT: String(await freePort()) };
  let service = await startWebhookProcess(home, settings);
  const acknowledged = new Map<string, string>();
  let kills = 0;
  try {
    let isOver = false;
    const load = (async () => {
      const sent: Promise<void>[] = [];
      for (let count = 0; !isOver; count++) {
        sent.push(submit(service.url, `user-${count % USERS}`, `hello number ${count}`, acknowledged));
        await sleep(1000 / perSecond);
      }
      await Promise.all(sent);
    })();
    for (; !isEnough(kills); kills++) {
      const some = acknowledged.size + 10 + Math.random() * perSecond;
      while (acknowledged.size < some) await sleep(Math.random() * 20);
      await service.kill();
      service = await startWebhookProcess(home, settings);
    }
    isOver = true;
    await load;
    const outcomes: Ordeal["outcomes"][number][] = [];
    for (const id of acknowledged.keys()) outcomes.push(await outcome(service.url, id));
    return { acknowledged, kills, outcomes };
  } finally {
    await service.kill();
  }
}

async function submit(
  url: string,
  user: string,
  message: string,
  acknowledged: Map<string, string>,
): Promise<void> {
  try {
    const body = JSON.stringify({ user_id: user, message });
    const answer = await fetch(`${url}/webhook`, { method: "POST", headers, body });
    const { job_id } = (await answer.json()) as { job_id: string };
    if (answer.status === 200) acknowledged.set(job_id, message);
  } catch {
    // It was being killed: nothing was acknowledged, nothing is owed.
  }
}

async function outcome(url: string, id: string): Promise<Ordeal["outcomes"][number]> {
  for (;;) {
    const answer = await fetch(`${url}/jobs/${id}`, { headers });
    const job = (await answer.json()) as Ordeal["outcomes"][number] & { status: string };
    if (job.status === "completed") return job;
    await sleep(20);
  }
}

/** How often each message was answered, by the threads on disk: begun it may have been more often. */
export async function countAnswers(threads: Services["threads"]): Promise<ReadonlyMap<string, number>> {
  const answered = new Map<string, number>();
  for (let number = 0; number < USERS; number++) {
    const user = identityOf("webhook", `user-${number}`);
    let before: string | undefined;
    do {
      const page = await threads.list(user, { limit: 100, ...(before !== undefined && { before }) });
      for (const { id } of page.items) {
        for (const { status, input } of (await threads.turns(user, id)).items) {
          if (status === "completed" && input.type === "message")
            answered.set(input.text, (answered.get(input.text) ?? 0) + 1);
        }
      }
      before = page.next;
    } while (before !== undefined);
  }
  return answered;
}
