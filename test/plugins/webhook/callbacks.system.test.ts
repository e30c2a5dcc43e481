import { Webhook } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { callbackSecrets } from "../../../plugins/webhook/derived-secrets.ts";
import { temporaryFolder } from "../../support/home.ts";
import { startCollector } from "../../support/servers/collector.ts";
import { startReceiver } from "../../support/servers/receiver.ts";
import { breakTable } from "../../support/services/broken-table.ts";
import { bootWebhook, completed, SECRET } from "../../support/services/webhook.ts";

const HELLO = { user_id: "ada", message: "hello", conversation_id: "c1" };

const toPort = (port: number) => ({
  HTTP_CALLBACK_URL: `http://127.0.0.1:${port}/done`,
  HTTP_CALLBACK_PRIVATE_HOSTS: `127.0.0.1:${port}`,
});

test("a completed job is posted to HTTP_CALLBACK_URL, signed as Standard Webhooks with a key of its own", async () => {
  const receiver = await startReceiver();
  const webhook = await bootWebhook(toPort(receiver.port));
  const { json } = await webhook.post(HELLO);
  await receiver.received(1);
  const [{ headers, body }] = receiver.deliveries as [(typeof receiver.deliveries)[0]];
  const [key] = await callbackSecrets(webhook.kernel.service("store"));
  expect(new Webhook(key).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));
  expect(key).not.toContain(SECRET);
  expect(headers["webhook-id"]).toBe(json.job_id);
  expect(headers["x-hub-signature-256"]).toBeUndefined();
  expect(headers["content-type"]).toBe("application/json");
  expect(JSON.parse(body)).toEqual({
    type: "job.completed",
    job: { ...(await completed(webhook, json.job_id)), user_id: "ada", conversation_id: "c1" },
  });
});

test("the callback of a request that came with a trace is part of it, and the job's own trace is linked to it", async () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const [receiver, collector] = [await startReceiver(), await startCollector()];
  const webhook = await bootWebhook({
    ...toPort(receiver.port),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  });
  await webhook.post(HELLO, { traceparent });
  await receiver.received(1);
  expect(receiver.deliveries[0]?.headers["traceparent"]).toBe(traceparent);
  const agent = () => collector.spans.find(({ name }) => name === "invoke_agent postern");
  await expect.poll(agent).toMatchObject({ parent: undefined, links: [traceparent] });
});

test("a receiver that fails is tried again, with the same delivery name, until it answers 2xx", async () => {
  let isMended = false;
  const receiver = await startReceiver(() => (isMended ? 200 : 500));
  const webhook = await bootWebhook(toPort(receiver.port));
  const { json } = await webhook.post(HELLO);
  const callback = async () => (await webhook.kernel.service("jobs").find(json.job_id))?.callback;
  await expect.poll(callback).toMatchObject({
    status: "retrying",
    attempts: expect.any(Number),
    message: expect.stringContaining("500"),
  });
  isMended = true;
  await expect.poll(callback).toMatchObject({ status: "delivered" });
  expect(await callback()).toEqual({ status: "delivered", attempts: receiver.deliveries.length });
  const [first, second] = receiver.deliveries;
  expect(second).toEqual({
    ...first,
    headers: expect.objectContaining({ "webhook-id": first?.headers["webhook-id"] }),
  });
  expect(webhook.kernel.logged.join("")).toContain("the receiver returned 500");
});

test("a redirect is not followed: it counts as a failure", async () => {
  const receiver = await startReceiver((nth) => (nth === 1 ? 302 : 200));
  const webhook = await bootWebhook(toPort(receiver.port));
  await webhook.post(HELLO);
  await receiver.received(2);
  expect(webhook.kernel.logged.join("")).toContain("the receiver returned 302");
});

test("a callback that could not be delivered survives a restart", async () => {
  const reserved = await startReceiver((nth) => (nth === 1 ? 503 : 200));
  const home = temporaryFolder();
  const before = await bootWebhook(toPort(reserved.port), { home });
  const { json } = await before.post(HELLO);
  await reserved.received(1);
  await before.kernel.stop();
  await bootWebhook(toPort(reserved.port), { home });
  await reserved.received(2);
  expect(reserved.deliveries[1]?.headers["webhook-id"]).toBe(json.job_id);
});

test("a job that completed while nobody could call back is called back after the next start", async () => {
  const receiver = await startReceiver((nth) => (nth === 1 ? 503 : 200));
  const home = temporaryFolder();
  const owing = await bootWebhook(toPort(receiver.port), { home });
  const { json } = await owing.post(HELLO);
  await owing.kernel.stop();
  const silent = await bootWebhook({}, { home });
  await completed(silent, json.job_id);
  await silent.kernel.stop();
  await bootWebhook(toPort(receiver.port), { home });
  await receiver.received(1);
  expect(receiver.deliveries.at(-1)?.headers["webhook-id"]).toBe(json.job_id);
});

test.for(["https://127.0.0.1", "https://localhost", "https://[::1]", "https://[::ffff:127.0.0.1]"])(
  "a callback never reaches the private address behind %s unless it is listed",
  async (origin) => {
    const receiver = await startReceiver();
    const webhook = await bootWebhook({ HTTP_CALLBACK_URL: `${origin}:${receiver.port}/` });
    const { json } = await webhook.post(HELLO);
    await completed(webhook, json.job_id);
    await expect.poll(() => webhook.kernel.logged.join("")).toContain("HTTP_CALLBACK_PRIVATE_HOSTS");
    expect(webhook.kernel.logged.join("")).toMatch(/a loopback address|an IPv4-mapped address/);
    expect(receiver.deliveries).toEqual([]);
  },
);

test("callback_url in metadata is only metadata", async () => {
  const receiver = await startReceiver();
  const webhook = await bootWebhook();
  const metadata = { callback_url: `http://127.0.0.1:${receiver.port}/` };
  const { json } = await webhook.post({ ...HELLO, metadata }, { prefer: "wait=60" });
  expect(json.status).toBe("completed");
  expect(receiver.deliveries).toEqual([]);
});

test("a delivery that cannot be noted is not sent again and again, and the service goes on", async () => {
  const receiver = await startReceiver();
  const webhook = await bootWebhook(toPort(receiver.port));
  const sql = await webhook.kernel.service("store").tables("test", []);
  // The receiver answers, and then it cannot be struck off.
  const mend = await breakTable(sql, "webhook_callbacks", "DELETE");
  const strays: unknown[] = [];
  const onStray = (error: unknown) => void strays.push(error);
  process.on("unhandledRejection", onStray);
  onTestFinished(() => void process.off("unhandledRejection", onStray));
  await webhook.post(HELLO);
  await expect.poll(() => webhook.kernel.logged.join("")).toContain("a callback could not be stored");
  await mend();
  // The next one goes through the same queue: with it, a second try of the first would have been sent, too.
  const { json } = await webhook.post({ ...HELLO, message: "next" });
  const names = () => receiver.deliveries.map(({ headers }) => headers["webhook-id"]);
  await expect.poll(names).toContain(json.job_id);
  // On a slow machine the lease of the first has ended by then, and it is sent once more.
  expect(names().indexOf(json.job_id)).toBeLessThanOrEqual(2);
  expect(strays).toEqual([]);
});

test("the answer of a routine is sent as a callback, owed from the moment its job is", async () => {
  const receiver = await startReceiver();
  const webhook = await bootWebhook(toPort(receiver.port));
  const routines = webhook.kernel.service("routines");
  const { id } = await routines.add({
    user: "ann",
    schedule: "daily at 8:00",
    text: "Hi",
    deliver: "callback",
  });
  const run = await routines.run(id);
  await receiver.received(1);
  const [{ headers, body }] = receiver.deliveries as [(typeof receiver.deliveries)[0]];
  const [key] = await callbackSecrets(webhook.kernel.service("store"));
  expect(new Webhook(key).verify(body, headers as Record<string, string>)).toMatchObject({
    type: "job.completed",
    job: { id: run?.job, user_id: "ann", conversation_id: `routine:${id}`, response: expect.any(String) },
  });
});
