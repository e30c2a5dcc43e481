/** Runs the terminal UI as a client of a service that runs elsewhere: nothing of the home is claimed or written. */
import { boot } from "../../kernel.ts";
import type { AnyPlugin, Resume } from "../../plugin.ts";
import { waitForEnd } from "./serve.ts";
import type { Session } from "./session.ts";

/** Runs until the person quits, and returns the exit code. */
export async function join(
  { settings, home, mask, openLog }: Session,
  plugins: readonly AnyPlugin[],
  { version, resume }: { readonly version: string; readonly resume?: Resume | undefined },
): Promise<number> {
  process.umask(0o077);
  const crashes: unknown[] = [];
  const ending = waitForEnd((error) => crashes.push(error));
  try {
    // The log file is the service's, and the screen has no room for log lines.
    const log = openLog();
    const onShutdown = ending.request;
    const options = { plugins, settings, home, log, mask, version, resume, onShutdown, serving: false };
    const running = await boot(options);
    await ending.requested;
    const failed = await running.stop();
    for (const crash of crashes) throw crash;
    return failed.length > 0 ? 1 : 0;
  } finally {
    ending.dispose();
  }
}
