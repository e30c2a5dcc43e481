import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bootWebhook } from "../../support/services/webhook.ts";

const README = readFileSync(new URL("../../../plugins/webhook/README.md", import.meta.url), "utf8");
const run = promisify(execFile);

/** The examples in the order of the page, each with the answer the page promises. */
const examples = [...README.matchAll(/((?:^[A-Z]+=.*\n)*^curl (?:.*\\\n)*.*\n)# (.*)$/gm)].map(
  ([, command = "", answer = ""]) => ({ command, answer }),
);

test("the curl lines of the README, pasted into a shell, answer what the page says", async () => {
  const webhook = await bootWebhook({ HTTP_WEBHOOK_SECRET: "a-long-random-text" });
  expect(examples).toHaveLength(4);
  let job = "";
  for (const { command, answer } of examples) {
    if (command.includes("$JOB_ID")) await webhook.kernel.service("jobs").wait(job, 60_000);
    const here = command.replaceAll("http://localhost:8080", webhook.url);
    const { stdout } = await run("sh", ["-c", here], { env: { ...process.env, JOB_ID: job } });
    const promised = new RegExp(
      `^${answer.replace(/[{}]/g, "\\$&").replaceAll("…", String.raw`(?:[^"\\]|\\.)+`)}$`,
    );
    expect(stdout).toMatch(promised);
    job = (JSON.parse(stdout) as { job_id?: string }).job_id ?? job;
  }
});
