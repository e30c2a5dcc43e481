/** Loaded into a service before it starts: tells its parent, when asked, for how long its main thread did one thing at a time at most. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

if (isMainThread && process.send !== undefined) {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  process.on("message", () => {
    process.send?.(delays.max / 1e6);
    delays.reset();
  });
  process.channel?.unref();
}
