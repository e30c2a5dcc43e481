/** A tool that takes its process down, called by a job of a real service: nobody else notices, and it is not tried for ever. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { servePostern } from "../../support/processes/served.ts";
import { freePort } from "../../support/servers/port.ts";
import { client, completed, SECRET } from "../../support/services/webhook.ts";
import { copyCode } from "../../support/tools/components.ts";
import { bombIn, NOTHING } from "../../support/tools/tool-host.ts";
import { afterThisTest } from "../../support/undo.ts";

async function open() {
  const port = await freePort();
  const served = await servePostern({
    HTTP_ENABLED: "true",
    HTTP_HOST: "127.0.0.1",
    HTTP_PORT: String(port),
    HTTP_WEBHOOK_SECRET: SECRET,
    HTTP_RATE_LIMIT: "1000000",
  });
  const headers = { authorization: `Bearer ${readFileSync(`${served.home}/webui-token`, "utf8").trim()}` };
  const upload = async (path: string, component: Uint8Array) => {
    const form = new FormData();
    form.set("name", "bomb");
    form.set("component", new Blob([Buffer.from(component)]));
    form.set("capabilities", NOTHING);
    const answer = await fetch(`${served.url}${path}`, { method: "POST", headers, body: form });
    return { status: answer.status, body: await answer.json() };
  };
  return { served, upload, webhook: client(`http://127.0.0.1:${port}`) };
}

/** Asks again and again until the test is over; answers what it got. */
function watchHealth(url: string) {
  const seen = { statuses: new Set<number>(), asked: 0 };
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      seen.statuses.add(
        await fetch(`${url}/health`).then(
          ({ status }) => status,
          () => 0,
        ),
      );
      seen.asked++;
      await sleep(25);
    }
  })();
  const stop = async () => {
    isOver = true;
    await watching;
    return seen;
  };
  afterThisTest(async () => void (await stop()));
  return stop;
}

test("a job whose tool crashes completes in words, the service answers throughout, and a restart does not repeat it", async () => {
  const { served, upload, webhook } = await open();
  const bomb = await bombIn(0);
  await copyCode(bomb, served.home);
  expect(await upload("/api/tools", bomb)).toMatchObject({ status: 201, body: { name: "bomb" } });

  const { model } = served;
  const crash = { calls: [{ name: "bomb", arguments: {} }] };
  model.script(crash, crash, crash, crash, { text: "The tool does not work." });
  const stop = watchHealth(served.url);
  const { json: submitted } = await webhook.post({ user_id: "ada", message: "go" });
  const job = await completed(webhook, submitted.job_id);
  expect(job).toMatchObject({ status: "completed", response: "The tool does not work." });
  const { statuses, asked } = await stop();
  expect([...statuses]).toEqual([200]);
  expect(asked).toBeGreaterThan(0);

  const told = (model.requests.at(-1)?.messages ?? []).filter(({ role }) => role === "tool");
  const words = told.map(({ content }) => JSON.stringify(content));
  expect(words).toHaveLength(4);
  for (const text of words.slice(0, 3)) expect(text).toContain("ran out of its 64 MiB of memory");
  expect(words[3]).toMatch(/bomb is switched off.*postern tool enable bomb/);
  await served.process.printed("Switch it on again: postern tool enable bomb");

  const before = model.requests.length;
  await served.restart("SIGKILL");
  const { json: next } = await webhook.post({ user_id: "ada", message: "and now?" });
  expect(await completed(webhook, next.job_id)).toMatchObject({ response: "ok" });
  expect(model.requests).toHaveLength(before + 1);
  expect((model.requests.at(-1)?.tools ?? []).map((tool) => tool.function.name)).not.toContain("bomb");
  expect(await completed(webhook, submitted.job_id)).toEqual(job);
});

test("examined over HTTP it is refused, and the service answers throughout", async () => {
  const { served, upload } = await open();
  const stop = watchHealth(served.url);
  for (const where of [1, 2] as const) {
    const bomb = await bombIn(where);
    await copyCode(bomb, served.home);
    const { status, body } = await upload("/api/tools/examine", bomb);
    expect(body).toMatchObject({ error: { code: "cannot_describe_itself" } });
    expect(status).toBe(400);
  }
  expect([...(await stop()).statuses]).toEqual([200]);
});
