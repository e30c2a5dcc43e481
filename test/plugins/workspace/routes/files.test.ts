/** The files of a user over HTTP: written and read in pieces, compared, taken back, and never served as a page. */
import { connect } from "node:net";
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway, type TestGateway } from "../../../support/services/gateway.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

const at = (path: string, more: Record<string, string> = {}) =>
  `/api/workspace/file?${new URLSearchParams({ path, ...more })}`;

function filesOf(gateway: TestGateway, token = OPERATOR_TOKEN) {
  const send = async (path: string, init: RequestInit = {}) =>
    fetch(gateway.url + path, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) },
    });
  return {
    send,
    async put(path: string, data: string | Buffer | ReadableStream, more: Record<string, string> = {}) {
      const body = data instanceof ReadableStream ? data : Uint8Array.from(Buffer.from(data as string));
      const headers = { "content-type": "application/octet-stream" };
      const answer = await send(at(path, more), {
        ...{ method: "PUT", headers, body, duplex: "half" },
      } as RequestInit);
      // biome-ignore lint/suspicious/noExplicitAny: whatever it says is what is asserted
      return { status: answer.status, body: (await answer.json()) as any };
    },
    get: (path: string, more?: Record<string, string>) => send(at(path, more)),
    ask: (path: string, body?: object, method = body === undefined ? "GET" : "POST") =>
      gateway.ask(`/api/workspace${path}`, { method, token, ...(body && { body }) }),
  };
}

test("a file is sent in pieces, listed, read back byte for byte, and told apart by its digest", async () => {
  const files = filesOf(await openGateway());
  const large = Buffer.alloc(3_000_000, "0123456789abcdef");
  let sent = 0;
  const pieces = new ReadableStream({
    pull(stream) {
      stream.enqueue(large.subarray(sent, sent + 65_536));
      sent += 65_536;
      if (sent >= large.length) stream.close();
    },
  });
  expect(await files.put("/data/large.bin", pieces)).toMatchObject({
    status: 200,
    body: {
      path: "/data/large.bin",
      bytes: large.length,
      version: 1,
      origins: [{ kind: "file", name: "large.bin" }],
    },
  });
  const answer = await files.get("/data/large.bin");
  expect(Buffer.from(await answer.arrayBuffer()).equals(large)).toBe(true);
  const etag = answer.headers.get("etag") ?? "";
  const again = await files.send(at("/data/large.bin"), {
    headers: { "if-none-match": etag, "cache-control": "max-age=0" },
  });
  expect([again.status, (await again.text()).length]).toEqual([304, 0]);
  expect((await files.ask("?folder=/")).body.entries).toMatchObject([{ path: "/data", kind: "folder" }]);
  expect((await files.ask("?deep=true")).body.entries.map(({ path }: { path: string }) => path)).toEqual([
    ...["/data", "/data/large.bin"],
  ]);
  expect((await files.ask("/usage")).body).toMatchObject({
    files: 1,
    max_files: 20_000,
    max_bytes: 500_000_000,
  });
  expect((await files.ask("/roots")).body).toEqual({ roots: [] });
});

test("nothing of a file is taken for a page, a script or a style; a picture is one only in an img", async () => {
  const files = filesOf(await openGateway());
  for (const [path, data, type] of [
    ["/evil.html", "<script>alert(1)</script>", "application/octet-stream"],
    ["/evil.js", "alert(1)", "application/octet-stream"],
    ["/evil.png", "<html>", "application/octet-stream"],
    ["/chart.svg", SVG, "image/svg+xml"],
    ["/dot.png", PNG, "image/png"],
  ] as const) {
    await files.put(path, data);
    const { headers } = await files.get(path);
    expect([path, headers.get("content-type")]).toEqual([path, type]);
    expect(headers.get("content-disposition")).toContain("attachment;");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    );
  }
});

test("versions are listed, compared, downloaded and restored", async () => {
  const files = filesOf(await openGateway());
  await files.put("/notes.md", "one\ntwo\n");
  await files.put("/notes.md", "one\nthree\n", { expected: "1" });
  expect(await files.put("/notes.md", "late", { expected: "1" })).toMatchObject({
    status: 409,
    body: { error: { code: "workspace_changed" } },
  });
  const { versions } = (await files.ask("/versions?path=/notes.md")).body;
  expect(versions).toMatchObject([
    { version: 2, change: "written", writer: { kind: "api" } },
    { version: 1, change: "created" },
  ]);
  expect((await files.ask("/diff?path=/notes.md&from=1&to=2")).body.lines).toEqual([
    "  one",
    "- two",
    "+ three",
  ]);
  expect(await (await files.get("/notes.md", { version: "1" })).text()).toBe("one\ntwo\n");
  expect((await files.ask("/restore", { path: "/notes.md", version: 1 })).body.version).toBe(3);
  expect((await files.ask("/text?path=/notes.md")).body).toEqual({ text: "one\ntwo\n", is_complete: true });
  expect((await files.ask("/versions?path=/never.md")).status).toBe(404);
});

test("the text of a long file is its beginning, in whole lines, and a picture has none", async () => {
  const files = filesOf(await openGateway());
  await files.put("/long.txt", "äöü ß\n".repeat(60_000));
  await files.put("/dot.png", PNG);
  const { text, is_complete } = (await files.ask("/text?path=/long.txt")).body;
  expect([is_complete, text.length > 100_000, text.endsWith("äöü ß\n")]).toEqual([false, true, true]);
  expect((await files.ask("/text?path=/dot.png")).body).toMatchObject({
    text: "",
    problem: expect.any(String),
  });
  expect((await files.ask("/diff?path=/long.txt&from=1&to=1")).body.problem).toContain("256 KiB");
});

test("folders are made, moved and removed, and each change can be undone and had again", async () => {
  const files = filesOf(await openGateway());
  expect((await files.ask("/folders", { path: "/reports" })).status).toBe(201);
  await files.put("/reports/may.csv", "a,b\n1,2\n");
  expect((await files.ask("/move", { path: "/reports", to: "/old" })).body).toMatchObject({
    path: "/old",
    kind: "folder",
  });
  expect((await files.ask("/entry?path=/old/may.csv")).body).toMatchObject({ mime: "text/csv" });
  expect((await files.ask("/file?path=/old", undefined, "DELETE")).status).toBe(204);
  expect((await files.ask("/entry?path=/old/may.csv")).status).toBe(404);
  const [removal] = (await files.ask("/log?limit=1")).body.sets;
  expect(removal.changes).toMatchObject([{ path: "/old/may.csv", change: "removed" }]);
  const undone = (await files.ask("/undo", { set_id: removal.id })).body;
  expect(undone).toMatchObject({ set: { undoes: removal.id }, conflicts: [] });
  expect((await files.ask("/entry?path=/old/may.csv")).status).toBe(200);
  expect((await files.ask("/undo", { set_id: removal.id })).status).toBe(409);
  await files.ask("/undo", { set_id: undone.set.id });
  expect((await files.ask("/entry?path=/old/may.csv")).status).toBe(404);
  expect((await files.ask("/undo", { set_id: "none" })).status).toBe(404);
});

test("an undo that would overwrite a later change does nothing until it is told what to do", async () => {
  const gateway = await openGateway();
  const files = filesOf(gateway);
  const workspace = gateway.service.service("workspace");
  const write = (path: string) => ({ op: "write", path, data: Buffer.from("by the model") }) as const;
  const writer = { kind: "model", turn: "turn-1", thread: "thread-1" } as const;
  await workspace.apply("operator", [write("/a.md"), write("/b.md")], { writer });
  await files.put("/a.md", "mine");
  const [set] = (await files.ask("/log?turn=turn-1")).body.sets;
  expect(set.writer).toEqual({ kind: "model", turn_id: "turn-1", thread_id: "thread-1" });
  const refused = (await files.ask("/undo", { set_id: set.id })).body;
  expect(refused).toEqual({ conflicts: [{ path: "/a.md", by: { kind: "api" }, at: expect.any(String) }] });
  expect((await files.ask("/entry?path=/b.md")).status).toBe(200);
  expect((await files.ask("/undo", { set_id: set.id, conflicts: "skip" })).body.set.undoes).toBe(set.id);
  expect((await files.ask("/entry?path=/b.md")).status).toBe(404);
  expect(await (await files.get("/a.md")).text()).toBe("mine");
});

test("what is wrong is refused in words, and an upload that breaks off leaves nothing", async () => {
  const gateway = await openGateway({ variables: { WORKSPACE_MAX_MB: "1" } });
  const files = filesOf(gateway);
  const codeOf = async (path: string, data: string | Buffer = "x") =>
    (await files.put(path, data)).body.error.code;
  expect(await codeOf("/a/../b")).toBe("bad_path");
  expect(await codeOf("/a\u202eb")).toBe("bad_path");
  expect(await files.put("/large", Buffer.alloc(1_100_000))).toMatchObject({
    status: 413,
    body: { error: { code: "workspace_full" } },
  });
  const json = await files.send(at("/a.json"), {
    ...{ method: "PUT", body: "{}", headers: { "content-type": "application/json" } },
  });
  expect(json.status).toBe(415);
  await breakOff(gateway.url, at("/broken.txt"));
  expect(await files.put("/broken.txt", "whole", { expected: "0" })).toMatchObject({ body: { version: 1 } });
  await expect.poll(() => gateway.service.logged.filter((line) => line.includes("PUT")).length).toBe(6);
  expect((await files.ask("/versions?path=/broken.txt")).body.versions).toHaveLength(1);
  expect(gateway.service.logged.filter((line) => line.includes("because of a bug"))).toEqual([]);
});

/** Promises a hundred bytes, sends ten and hangs up. */
async function breakOff(url: string, path: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = [
    `PUT ${path} HTTP/1.1`,
    `Host: ${hostname}:${port}`,
    `Authorization: Bearer ${OPERATOR_TOKEN}`,
    "Content-Type: application/octet-stream",
    "Content-Length: 100",
  ];
  await new Promise<void>((resolve) =>
    socket.write(`${lines.join("\r\n")}\r\n\r\n0123456789`, () => setImmediate(resolve)),
  );
  socket.destroy();
}

test("an attachment is kept as a file, and a file is attached to a message; both stay a stranger's words", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const files = filesOf(gateway);
  await files.put("/letters/bank.txt", "Pay to account 42");
  const upload = (await files.ask("/attach", { path: "/letters/bank.txt" })).body;
  expect(upload).toMatchObject({ kind: "file", name: "bank.txt", size: 17 });
  const body = { message: "What does it say?", attachments: [upload.id] };
  expect((await gateway.ask("/api/chat", { method: "POST", body })).status).toBe(200);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("Pay to account 42");
  const kept = await files.ask("/keep", { attachment_id: upload.id, path: "/kept.txt" });
  expect(kept).toMatchObject({ status: 201, body: { origins: [{ kind: "file", name: "bank.txt" }] } });
  expect((await files.ask("/keep", { attachment_id: upload.id, path: "/kept.txt" })).status).toBe(409);
  expect((await files.ask("/keep", { attachment_id: "none", path: "/none.txt" })).status).toBe(404);
});

test("a token with a scope reaches files only with the tools of its scope, and never undoes", async () => {
  const gateway = await openGateway();
  await filesOf(gateway).put("/a.txt", "hello");
  const make = async (tools: readonly string[]) => {
    const body = { user: "operator", name: tools.join(), tools };
    return (await gateway.ask("/api/tokens", { method: "POST", body })).body.token as string;
  };
  const reader = filesOf(gateway, await make(["workspace_read"]));
  expect((await reader.get("/a.txt")).status).toBe(200);
  expect((await reader.ask("?folder=/")).status).toBe(403);
  expect((await reader.put("/a.txt", "x")).status).toBe(403);
  const [{ id }] = (await filesOf(gateway).ask("/log")).body.sets;
  const writer = filesOf(gateway, await make(["workspace_write", "workspace_list"]));
  expect((await writer.put("/b.txt", "x")).status).toBe(200);
  expect((await writer.ask("/undo", { set_id: id })).body.error.code).toBe("scoped_token");
});

test("a search says that there is more where it leaves out names", async () => {
  const files = filesOf(await openGateway());
  const names = Array.from({ length: 101 }, (_, at) => `/plan-${at}.txt`);
  for (const name of names.slice(1)) await files.put(name, "x");
  const search = async () => (await files.ask("/search?q=plan")).body;
  expect(await search()).toMatchObject({ complete: true, hits: { length: 100 } });
  await files.put("/plan-0.txt", "x");
  expect(await search()).toMatchObject({ complete: false, hits: { length: 100 } });
});
