/** Finds the turn of a response: most have its id; a background one is a job, which gets another turn after a crash. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Job, Services } from "../../../kernel/plugin.ts";
import { isBackground, type Requests, type TakenRequest } from "./requests.ts";

interface TurnLocation {
  /** Undefined before the job has begun. */
  readonly turn: string | undefined;
  readonly thread: string;
  readonly job?: Job;
}

const POLL_MS = 200;
const STOP_TIMEOUT_MS = 5000;

export type TurnLocations = ReturnType<typeof createTurnLocations>;

interface LocationParts extends Pick<Services, "agent" | "jobs" | "threads"> {
  readonly requests: Requests;
}

export function createTurnLocations({ agent, jobs, threads, requests }: LocationParts) {
  /** A job knows the id of its turn a moment before the turn is stored. */
  const isStored = async (user: string, turn: string): Promise<boolean> =>
    agent.running(user, turn) !== undefined || (await threads.turn(user, turn)) !== undefined;

  async function find(taken: TakenRequest): Promise<TurnLocation> {
    const { id, thread, ran } = taken;
    if (ran) return ran;
    if (!isBackground(taken)) return { turn: id, thread };
    const job = await jobs.find(id);
    const place = { turn: job?.turn, thread: job?.thread ?? thread, job };
    // Jobs are deleted after a while, and responses are not.
    if (job?.status === "completed" && job.turn !== undefined)
      await requests.setPlace(id, { turn: job.turn, thread: place.thread });
    return place;
  }

  return {
    find,
    /** Resolves when there is a turn, or when there will be none. */
    async begun(taken: TakenRequest): Promise<TurnLocation> {
      for (;;) {
        const place = await find(taken);
        const { turn, job } = place;
        if (job === undefined || job.status === "completed") return place;
        if (turn !== undefined && (await isStored(taken.user, turn))) return place;
        await sleep(POLL_MS);
      }
    },
    async cancel(taken: TakenRequest): Promise<boolean> {
      const { turn, job } = await find(taken);
      if (job !== undefined && job.status !== "completed") return (await jobs.cancel(job.id)) !== undefined;
      return turn !== undefined && (await agent.cancel(taken.user, turn));
    },
    /** Deletes the job of a cancelled response, so that nothing of it is left until jobs are pruned. */
    async forget(taken: TakenRequest): Promise<void> {
      if (!isBackground(taken)) return;
      await jobs.wait(taken.id, STOP_TIMEOUT_MS);
      await jobs.remove(taken.id);
    },
  };
}
