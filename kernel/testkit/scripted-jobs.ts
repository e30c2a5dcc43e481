/** Jobs of the scripted agent: in memory, each run at once. */

import { randomUUID } from "node:crypto";
import { Fault } from "../fault.ts";
import type { Services } from "../plugin.ts";
import type { Job, NewJob } from "../vocabulary/job.ts";
import { answerText } from "../vocabulary/turn.ts";

export function createScriptedJobs(agent: Services["agent"]): Services["jobs"] {
  const jobs = new Map<string, Job>();
  const listeners = new Set<(job: Job) => void>();
  const waiting = new Map<string, Promise<Job>>();
  const complete = (id: string, more: Partial<Job>): Job => {
    const completedAt = new Date().toISOString();
    const job: Job = { ...(jobs.get(id) as Job), ...more, status: "completed", completedAt };
    jobs.set(id, job);
    for (const listener of listeners) listener(job);
    return job;
  };
  const work = async (id: string, { user, channel, message }: NewJob): Promise<Job> => {
    try {
      const turn = await agent.run({ user, channel, input: { type: "message", text: message } });
      const record = await turn.record;
      const { error, thread } = record;
      return complete(id, {
        thread,
        response: error ? `It failed: ${error.message}` : answerText(record),
        ...(error && { error }),
      });
    } catch (error) {
      const told =
        error instanceof Fault
          ? { code: error.code, message: error.message }
          : { code: "internal", message: "Something went wrong." };
      return complete(id, { response: `It failed: ${told.message}`, error: told });
    }
  };
  const submit = async (job: NewJob): Promise<Job> => {
    const { user, channel, conversation, sender } = job;
    const created: Job = {
      id: randomUUID(),
      user,
      channel,
      message: job.message,
      attempts: 1,
      status: "running",
      createdAt: new Date().toISOString(),
      ...(conversation !== undefined && { conversation }),
      ...(sender !== undefined && { sender }),
    };
    jobs.set(created.id, created);
    waiting.set(created.id, work(created.id, job));
    return created;
  };
  return {
    submit,
    async retry(id) {
      const job = jobs.get(id);
      return job && submit({ user: job.user, channel: job.channel, message: job.message });
    },
    async noteCallback(id, callback) {
      const job = jobs.get(id);
      if (job) jobs.set(id, { ...job, callback });
    },
    find: async (id) => jobs.get(id),
    list: async () => ({ items: [...jobs.values()].reverse() }),
    cancel: async (id) => jobs.get(id),
    remove: async (id) => void (jobs.get(id)?.status === "completed" && jobs.delete(id)),
    async wait(id, millis) {
      const late = new Promise<void>((resolve) => setTimeout(resolve, millis).unref());
      await Promise.race([waiting.get(id), late]);
      return jobs.get(id);
    },
    counts: async () => ({
      queued: 0,
      running: [...jobs.values()].filter(({ status }) => status === "running").length,
    }),
    onCompleted(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
