/** The person's own browser. */

const LAUNCH_MS = 1500;

/** False where this machine has no browser: the caller shows the address instead. */
export async function openBrowser(url: string): Promise<boolean> {
  const { default: open } = await import("open");
  const launcher = await open(url).catch(() => undefined);
  if (launcher === undefined) return false;
  if (launcher.exitCode !== null) return launcher.exitCode === 0;
  // A launcher that fails does so at once; one that is still running has found a browser.
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), LAUNCH_MS);
    launcher.once("exit", (code) => {
      clearTimeout(timer);
      resolve(code === 0);
    });
  });
}
