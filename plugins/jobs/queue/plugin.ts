/** Works on what still waited. It starts after everything that adds to the agent, and stops before that. */
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
