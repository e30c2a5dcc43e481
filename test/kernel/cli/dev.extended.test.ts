/** `npm run dev`, as CONTRIBUTING.md has it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

test("npm run dev starts the service and restarts it when a source file changes", async () => {
  const child = spawn("npm", ["run", "dev"], {
    cwd: ROOT,
    // A group of its own, so that npm, the watcher and the service can be ended together.
    detached: true,
    env: {
      PATH: process.env["PATH"] ?? "",
      POSTERN_HOME: temporaryFolder(),
      GATEWAY_PORT: "0",
      TOOLS_SHIPPED: "false",
      MODEL_PROVIDER: "builtin",
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const closed = once(child, "close");
  onTestFinished(async () => {
    process.kill(-(child.pid as number), "SIGKILL");
    await closed;
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    printed += chunk;
  });
  const starts = () => printed.split("ready in").length - 1;
  await expect.poll(starts).toBe(1);
  const now = new Date();
  utimesSync(join(ROOT, "kernel", "cli", "service", "serve.ts"), now, now);
  await expect.poll(starts).toBe(2);
  expect(printed).toContain("kernel/cli/service/serve.ts");
});
