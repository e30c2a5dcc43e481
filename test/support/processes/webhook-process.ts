/** The service with the webhook channel in a process of its own: started, killed, started again on one home. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { serve } from "../../../kernel/cli/service/serve.ts";
import { openSession } from "../../../kernel/cli/service/session.ts";
import type { Variables } from "../../../kernel/settings/env.ts";
import { WEBHOOK_SETTINGS, webhookPlugins } from "../services/webhook-plugins.ts";

export interface WebhookProcess {
  readonly url: string;
  /** kill -9, and waits until it is gone. */
  kill(): Promise<void>;
}

export async function startWebhookProcess(home: string, variables: Variables = {}): Promise<WebhookProcess> {
  const env = {
    PATH: process.env["PATH"],
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    POSTERN_HOME: home,
    LOG_LEVEL: "error",
    ...WEBHOOK_SETTINGS,
    ...variables,
  };
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], {
    env: env as NodeJS.ProcessEnv,
    stdio: ["ignore", "pipe", "inherit"],
  });
  // Should the tests themselves be stopped, nothing may be left behind.
  const end = () => void child.kill("SIGKILL");
  process.once("exit", end);
  const url = await printedUrl(child);
  return {
    url,
    async kill() {
      process.off("exit", end);
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

async function printedUrl(child: ChildProcess): Promise<string> {
  let printed = "";
  for await (const chunk of child.stdout ?? []) {
    printed += chunk;
    const url = /webhook\s+on\s+(http:\/\/\S+)[\s\S]*ready in/.exec(printed)?.[1];
    if (url !== undefined) {
      child.stdout?.resume();
      return url;
    }
  }
  throw new Error(`it ended before it was ready:\n${printed}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = await serve(openSession(), webhookPlugins, {
    version: "0.0.0-test",
    screenTaken: false,
  });
