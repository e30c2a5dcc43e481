import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { ToolReply } from "../../../host/broker/grant.ts";
import { recordTo, replayFrom } from "../../../host/broker/recording.ts";
import {
  ask,
  credential,
  everywhere,
  textOf,
  trackedBrokerage,
  withServer,
} from "../../support/services/brokerage.ts";

const headersOf = (reply: ToolReply) => (reply.ok ? (reply.headers ?? []) : []);
const valuesOf = (reply: ToolReply, name: string) =>
  headersOf(reply).flatMap(([own, value]) => (own === name ? [value] : []));

test("a reply has the answer's headers, those that came twice included", async () => {
  const { opened, url } = await withServer((_, response) =>
    response.writeHead(200, { "Content-Type": "text/plain", Link: ["<a>", "<b>"], "X-Rate": "ä" }).end("ok"),
  );
  const reply = await ask(opened.open(everywhere("api.test")), url);
  expect(valuesOf(reply, "content-type")).toEqual(["text/plain"]);
  expect(valuesOf(reply, "link")).toEqual(["<a>", "<b>"]);
  expect(valuesOf(reply, "x-rate")).toEqual(["ä"]);
});

test("headers of the connection and cookies are not shown", async () => {
  const { opened, url } = await withServer((_, response) =>
    response
      .writeHead(200, {
        Connection: "close, X-Hop",
        "X-Hop": "1",
        "Keep-Alive": "timeout=5",
        "Proxy-Authenticate": "Basic",
        "Set-Cookie": ["session=1", "other=2"],
        "X-Shown": "1",
      })
      .end("ok"),
  );
  const reply = await ask(opened.open(everywhere("api.test")), url);
  const names = headersOf(reply).map(([name]) => name);
  expect(names).toEqual(expect.arrayContaining(["x-shown", "date"]));
  for (const name of ["connection", "x-hop", "keep-alive", "proxy-authenticate", "set-cookie"])
    expect(names).not.toContain(name);
});

test("a length or encoding that is no longer true of the body is not shown", async () => {
  const { opened, url } = await withServer(({ path }, response) => {
    if (path === "/gzip") {
      const body = gzipSync("unfolded");
      response.writeHead(200, { "content-encoding": "gzip", "content-length": body.length }).end(body);
    } else {
      const body = path === "/secret" ? "it is hidden-here-1" : "plain";
      response.writeHead(200, { "content-length": body.length }).end(body);
    }
  });
  await opened.vault.secrets.set("token", "hidden-here-1");
  const call = opened.open(everywhere("api.test"));
  const zipped = await ask(call, `${url}/gzip`);
  expect(textOf(zipped)).toBe("unfolded");
  expect([...valuesOf(zipped, "content-encoding"), ...valuesOf(zipped, "content-length")]).toEqual([]);
  const scrubbed = await ask(call, `${url}/secret`);
  expect(textOf(scrubbed)).toBe("it is [secret]");
  expect(valuesOf(scrubbed, "content-length")).toEqual([]);
  expect(valuesOf(await ask(call, `${url}/plain`), "content-length")).toEqual(["5"]);
});

test("a secret that a server puts into its headers is replaced, also one outside of ASCII", async () => {
  const { opened, url } = await withServer(({ headers }, response) =>
    response
      .writeHead(200, {
        "X-Echo": `you sent ${headers.authorization}`,
        "X-Bytes": Buffer.from("schlüssel-geheim").toString("latin1"),
        "recorded-nowhere": "as a name",
      })
      .end(),
  );
  await opened.vault.secrets.set("token", "recorded-nowhere");
  await opened.vault.secrets.set("other", "schlüssel-geheim");
  const reply = await ask(opened.open(credential({ type: "bearer" })), url);
  expect(valuesOf(reply, "x-echo")).toEqual(["you sent Bearer [secret]"]);
  expect(valuesOf(reply, "x-bytes")).toEqual(["[secret]"]);
  expect(JSON.stringify(reply)).not.toContain("recorded-nowhere");
});

test("headers over 16 KiB are refused in words", async () => {
  const { opened, url } = await withServer((_, response) =>
    response.writeHead(200, { "X-Long": "x".repeat(20_000) }).end(),
  );
  expect(textOf(await ask(opened.open(everywhere("api.test")), url))).toMatch(
    /^refused: api\.test:\d+ answered with more than 16384 bytes of headers/,
  );
});

test("a recording keeps the headers without secrets, and one that has none still plays", async () => {
  const { opened, url } = await withServer(({ headers }, response) =>
    response.writeHead(200, { "X-Echo": `${headers.authorization}` }).end("hello"),
  );
  await opened.vault.secrets.set("token", "recorded-nowhere");
  const file = join(opened.home, "tape.json");
  const http = credential({ type: "bearer" });
  const live = await ask(opened.open(http, { tape: recordTo(file, {}, String) }), url);
  const text = await readFile(file, "utf8");
  expect(text).not.toContain("recorded-nowhere");

  const elsewhere = await trackedBrokerage({ privateHosts: [new URL(url).host] });
  const play = async () => ask(elsewhere.open(http, { tape: await replayFrom(file) }), url);
  expect(await play()).toEqual(live);
  expect(valuesOf(live, "x-echo")).toEqual(["Bearer [secret]"]);

  const tape = JSON.parse(text);
  delete tape.exchanges[0].reply.headers;
  await writeFile(file, JSON.stringify(tape));
  expect(await play()).toMatchObject({ ok: true, status: 200, headers: [] });
});
