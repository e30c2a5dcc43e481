/**
 * Works on jobs, routines and turns that still waited when the service stopped. It only uses the agent, so the kernel starts it after everything that adds to the agent, and stops it before:
 * no turn of a job runs without what plugins add, and none is begun again while they stop.
 */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "job-queue",
  needs: ["agent", "jobQueue", "kernel"],
  configure: () => ({}),
  async start({ use: { agent, jobQueue, kernel }, onStop, onDrain }) {
    if (!kernel.serving) return;
    onStop(await agent.resume());
    onStop(jobQueue.stop);
    onDrain(() => {
      jobQueue.stop();
      return jobQueue.idle();
    });
    await jobQueue.start();
  },
});
