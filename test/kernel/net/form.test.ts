/** Forms as odd clients send them, read from a real socket. */
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Koa from "koa";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { createFormReader } from "../../../kernel/net/form.ts";
import { listen } from "../../../kernel/net/listen.ts";
import type { Form } from "../../../kernel/net/routes.ts";
import { head } from "../../support/servers/raw-socket.ts";

// Where uploads would land; formidable looks it up once.
const folder = mkdtempSync(join(tmpdir(), "postern-test-"));
vi.stubEnv("TMPDIR", folder);
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const readForm = createFormReader(14 * 1024 * 1024);

const TYPE = "multipart/form-data; boundary=b";

const part = (headers: readonly string[], body: string) =>
  `--b\r\n${headers.join("\r\n")}\r\n\r\n${body}\r\n`;
const named = (name: string, more = "") => `Content-Disposition: form-data; name="${name}"${more}`;
const whole = (...parts: readonly string[]) => `${parts.join("")}--b--\r\n`;

/** Answers what `look` sees in the form. */
async function open(look: (form: Form) => unknown = () => null) {
  const failures: unknown[] = [];
  const koa = new Koa();
  koa.silent = true;
  koa.use(async (context) => {
    const form = await readForm(context).catch((error: unknown) => {
      failures.push(error);
      throw error;
    });
    context.body = JSON.stringify(look(form) ?? null);
  });
  const settings = { host: "127.0.0.1", port: 0, hostVariable: "HOST", portVariable: "PORT" };
  const { url, close } = await listen(koa.callback(), settings);
  onTestFinished(() => close(0));
  const send = async (body: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { method: "POST", body, headers: { "content-type": TYPE, ...headers } });
    return answer.ok ? answer.json() : answer.status;
  };
  return { url, send, failures };
}

test("a file keeps its bytes and a field its text, however the client declares them", async () => {
  const { send } = await open((form) => [form.text("a"), form.bytes("a")?.toString()]);
  const file = '; filename="f"';
  const binary = "Content-Type: application/octet-stream";
  const sent = async (headers: readonly string[], body: string) => send(whole(part(headers, body)));
  expect(await sent([named("a")], "é 1")).toEqual(["é 1", null]);
  expect(await sent([named("a", file), binary], "é 1")).toEqual(["é 1", "é 1"]);
  expect(await sent([named("a", file), binary], "")).toEqual(["", ""]);
  for (const encoding of ["7bit", "8bit", "binary"])
    expect(await sent([named("a"), `Content-Transfer-Encoding: ${encoding}`], "é 1")).toEqual(["é 1", null]);
  const base64 = "Content-Transfer-Encoding: base64";
  expect(await sent([named("a"), base64], "w6kgMQ==")).toEqual(["é 1", null]);
  expect(await sent([named("a", file), binary, base64], "w6kgMQ==")).toEqual(["é 1", "é 1"]);
  expect(await send(whole(part([named("b")], "2")))).toEqual([null, null]);
  expect(await send(whole(part([named("a")], "first"), part([named("a")], "second")))).toEqual([
    "first",
    null,
  ]);
});

test("names of parts and files are only names", async () => {
  const { send } = await open((form) => [form.text("name"), form.bytes("component")?.toString()]);
  const path = part([named("component", '; filename="../../etc/cron.d/x"'), "Content-Type: a/b"], "file");
  const own = part([named("__proto__")], "1");
  const form = whole(own, own, part([named("constructor")], "2"), part([named("name")], "n"), path);
  expect(await send(form)).toEqual(["n", "file"]);
  expect(({} as Record<string, unknown>)["0"]).toBeUndefined();
});

test("what is no form, or one that cannot be read, is refused", async () => {
  const { send } = await open();
  expect(await send("{}", { "content-type": "application/json" })).toBe(415);
  expect(await send(whole(), { "content-type": "multipart/mixed; boundary=b" })).toBe(415);
  expect(await send(whole(), { "content-encoding": "gzip" })).toBe(415);
  for (const type of ["multipart/form-data", "multipart/form-data; boundary="])
    expect(await send(whole(), { "content-type": type })).toBe(400);
  expect(await send("garbage")).toBe(400);
  expect(await send(part([named("a")], "the end is missing"))).toBe(400);
  expect(await send(whole(part([named("a"), "Content-Transfer-Encoding: rot13"], "1")))).toBe(400);
  expect(await send(whole(...Array(40).fill(part([named("a")], "1"))))).toBe(413);
});

test("a part's header is bounded: one made to take hours to read is refused at once", async () => {
  const { send } = await open();
  const hostile = named("a", `; ${'filename="'.repeat(500_000)}x`);
  expect(await send(whole(part([hostile], "1")))).toBe(400);
});

test("nothing of an upload is written to disk, also where the client hangs up in the middle", async () => {
  const { url, send, failures } = await open();
  const begun = part([named("component", '; filename="f"'), "Content-Type: a/b"], "x".repeat(200_000));
  expect(await send(whole(begun))).toBe(null);
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = ["POST / HTTP/1.1", "Host: x", `Content-Type: ${TYPE}`, "Content-Length: 1000000"];
  socket.write(head(...lines) + begun, () => socket.destroy());
  await once(socket, "close");
  await expect.poll(() => failures).toMatchObject([{ status: 400, message: "Request aborted" }]);
  expect(readdirSync(folder)).toEqual([]);
});
