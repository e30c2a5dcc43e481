/**
 * Where the turn of a response is. Most responses are their turn. One in the background is a job, which has a turn
 * when it has begun, and another one where a crash made it begin again.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Job, Services } from "../../../kernel/plugin.ts";
import { isBackground, type Requests, type TakenRequest } from "../intake/requests.ts";

export interface Places {
  find(taken: TakenRequest): Promise<Place>;
  /** When there is a turn, or will be none. */
  begun(taken: TakenRequest): Promise<Place>;
  /** True where there was something to stop. */
  cancel(taken: TakenRequest): Promise<boolean>;
  /** Of one that was cancelled: what its job holds of it goes before jobs are forgotten anyway. */
  forget(taken: TakenRequest): Promise<void>;
}

export interface Place {
  /** Undefined where the job has not begun. */
  readonly turn: string | undefined;
  readonly thread: string;
  readonly job?: Job | undefined;
}

// A job begins soon, or has to wait for others.
const LOOK_MILLIS = 200;
// Until one that is told to stop has stopped.
const STOP_MILLIS = 5000;

export function createPlaces(parts: {
  readonly agent: Services["agent"];
  readonly jobs: Services["jobs"];
  readonly threads: Services["threads"];
  readonly requests: Requests;
}): Places {
  const { agent, jobs, threads, requests } = parts;

  /** A job has the id of its turn a moment before the turn is stored. */
  const isThere = async (user: string, turn: string): Promise<boolean> =>
    agent.running(user, turn) !== undefined || (await threads.turn(user, turn)) !== undefined;

  async function find(taken: TakenRequest): Promise<Place> {
    const { id, thread, ran } = taken;
    if (ran) return ran;
    if (!isBackground(taken)) return { turn: id, thread };
    const job = await jobs.find(id);
    const place = { turn: job?.turn, thread: job?.thread ?? thread, job };
    // Jobs are forgotten after a while, and responses are not.
    if (job?.status === "completed" && job.turn !== undefined)
      await requests.setPlace(id, { turn: job.turn, thread: place.thread });
    return place;
  }

  return {
    find,
    async begun(taken) {
      for (;;) {
        const place = await find(taken);
        const { turn, job } = place;
        if (job === undefined || job.status === "completed") return place;
        if (turn !== undefined && (await isThere(taken.user, turn))) return place;
        await sleep(LOOK_MILLIS);
      }
    },
    async cancel(taken) {
      const { turn, job } = await find(taken);
      if (job !== undefined && job.status !== "completed") return (await jobs.cancel(job.id)) !== undefined;
      return turn !== undefined && (await agent.cancel(taken.user, turn));
    },
    async forget(taken) {
      if (!isBackground(taken)) return;
      await jobs.wait(taken.id, STOP_MILLIS);
      await jobs.remove(taken.id);
    },
  };
}
