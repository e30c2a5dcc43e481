/** Durable submissions beside a bare Koa route, and what a submission costs when very many are stored. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as breathe } from "node:timers/promises";
import Koa from "koa";
import { koaBody } from "koa-body";
import { Pool } from "undici";
import type { Running } from "../../kernel/kernel.ts";
import type { Services } from "../../kernel/plugin.ts";
import type { Variables } from "../../kernel/settings/env.ts";
import { countAnswers, submitUnderKills } from "../support/processes/kills.ts";
import { bootBare } from "../support/services/bare-kernel.ts";
import { SECRET, WEBHOOK_SETTINGS, webhookPlugins } from "../support/services/webhook-plugins.ts";
import {
  atLeast,
  atMost,
  type Bench,
  compare,
  type Figure,
  interleave,
  median,
  type Progress,
  single,
} from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";

const ROUNDS = 5;
const SUBMISSIONS = 1000;
const AT_ONCE = 16;
const STORED = [0, 10_000, 100_000] as const;
/** They share a commit. */
const FILLED_AT_ONCE = 100;

const SURVIVAL_SECONDS = 10;

const headers = { "content-type": "application/json", "x-webhook-secret": SECRET };
const body = JSON.stringify({ user_id: "ada", message: "What is 6 times 7?" });

function bootIn(home: string, variables: Variables = {}): Promise<Running> {
  return bootBare(webhookPlugins, home, { ...WEBHOOK_SETTINGS, ...variables });
}

/** Submissions a second, so many at once, over kept connections. */
async function rate(pool: Pool): Promise<number> {
  let left = SUBMISSIONS;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await submit(pool);
    }),
  );
  return (SUBMISSIONS / (performance.now() - began)) * 1000;
}

async function latency(pool: Pool): Promise<number> {
  const samples: number[] = [];
  for (let count = 0; count < 100; count++) {
    const began = performance.now();
    await submit(pool);
    samples.push(performance.now() - began);
  }
  return median(samples);
}

async function submit(pool: Pool): Promise<void> {
  const answer = await pool.request({ method: "POST", path: "/webhook", headers, body });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
}

async function bareKoa(): Promise<Server> {
  const app = new Koa().use(koaBody()).use((context) => {
    context.body = { job_id: "00000000-0000-0000-0000-000000000000", status: "queued" };
  });
  return new Promise((resolve) => {
    const server = app.listen(0, "127.0.0.1", () => resolve(server));
  });
}

async function fill(jobs: Services["jobs"], count: number): Promise<void> {
  const submit = (index: number) =>
    jobs.submit({ user: `webhook/user-${index % 1000}`, channel: "webhook", message: `stored ${index}` });
  for (let from = 0; from < count; from += FILLED_AT_ONCE) {
    await Promise.all(Array.from({ length: FILLED_AT_ONCE }, (_, at) => submit(from + at)));
    // Both ends of the kept connections live here and have to see each other close them.
    await breathe();
  }
}

export const bench: Bench = {
  name: "webhook",
  about:
    "submissions on disk before they are answered; growth: the latency with 100,000 stored within 1.5× of none",
  run: async (progress) => [
    ...(await inFolder((home) => load(home, progress))),
    ...(await inFolder((home) => survival(home, progress))),
  ],
};

async function load(home: string, progress: Progress): Promise<readonly Figure[]> {
  // Nobody answers at this address, and one job at a time waits for it: what is stored stays queued.
  const running = await bootIn(home, {
    MODEL_PROVIDER: "openai-compatible",
    MODEL_BASE_URL: "http://192.0.2.1/v1",
    MODEL_NAME: "none",
    JOBS_CONCURRENCY: "1",
  });
  const bare = await bareKoa();
  const detail = running.states.find(({ name }) => name === "webhook")?.detail ?? "";
  const ours = new Pool(detail, { connections: AT_ONCE });
  const theirs = new Pool(`http://127.0.0.1:${(bare.address() as AddressInfo).port}`, {
    connections: AT_ONCE,
  });
  try {
    await Promise.all([rate(ours), rate(theirs)]);
    const rates = await interleave(
      { "a bare Koa route": () => rate(theirs), "durable submissions": () => rate(ours) },
      ROUNDS,
      progress,
    );
    return [
      ...compare(rates, { unit: "a second", goals: { "durable submissions": atLeast(0.55) } }),
      ...(await growth(ours, running.service("jobs"), progress)),
    ];
  } finally {
    await Promise.all([ours.destroy(), theirs.destroy()]);
    bare.close();
    await running.stop();
  }
}

async function growth(pool: Pool, jobs: Services["jobs"], progress: Progress): Promise<readonly Figure[]> {
  const samples: Record<string, number[]> = {};
  let stored = 0;
  let last = "";
  for (const goal of STORED) {
    progress(`${goal} stored jobs`);
    await fill(jobs, goal - stored);
    stored = goal;
    last = `${goal.toLocaleString("en")} stored`;
    const taken: number[] = [];
    for (let round = 0; round < ROUNDS; round++) taken.push(await latency(pool));
    samples[last] = taken;
  }
  return compare(samples, { unit: "ms", what: "one more job", goals: { [last]: atMost(1.5) } });
}

/** kill -9 at random moments under fifty submissions a second: what was acknowledged and not kept. */
async function survival(home: string, progress: Progress): Promise<readonly Figure[]> {
  progress(`${SURVIVAL_SECONDS} seconds of kills`);
  const over = Date.now() + SURVIVAL_SECONDS * 1000;
  const { acknowledged, kills } = await submitUnderKills(home, 50, () => Date.now() > over);
  const running = await bootIn(home);
  const answered = await countAnswers(running.service("threads"));
  await running.stop();
  const broken = [...acknowledged.values()].filter((message) => answered.get(message) !== 1).length;
  const none = { words: "none", met: () => broken === 0 };
  return [
    single(`acknowledged over ${kills} kills in ${SURVIVAL_SECONDS} s`, acknowledged.size, "jobs"),
    {
      ...single("of these not answered exactly once", broken, "jobs", none),
      ratio: broken / acknowledged.size,
    },
  ];
}
