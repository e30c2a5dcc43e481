/** `pdf_as_text` of a capabilities file: a tool gets the text of a PDF instead of the document. */
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { recordTo, replayFrom } from "../../../host/broker/recording.ts";
import { pdf, pdfOf, stream } from "../../support/pdf.ts";
import {
  ask,
  type BrokerageOptions,
  everywhere,
  textOf,
  trackedBrokerage,
  withServer,
} from "../../support/services/brokerage.ts";

const TEXT = { ...everywhere("api.test"), pdf_as_text: true };
const HEADERS = { "content-type": "application/pdf", etag: '"one"' };
/** Holds what JSON escapes. */
const SECRET = 's3cr3t/+value with="every\\thing&<>~?';
const LOCKED = pdfOf(
  [stream(Buffer.from("BT ET"))],
  `/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <${"00".repeat(32)}> /U <${"00".repeat(32)}> /P -4 >>`,
);

const packed = (text: string) =>
  pdfOf([
    stream(
      deflateSync(
        Buffer.from(`BT /F1 9 Tf 20 700 Td (${text.replaceAll(/[\\()]/g, "\\$&")}) Tj ET`, "latin1"),
      ),
      "/Filter /FlateDecode",
    ),
  ]);

const serving = (
  body: Buffer,
  headers: Readonly<Record<string, string>> = HEADERS,
  options?: BrokerageOptions,
) => withServer((_, response) => response.writeHead(200, headers).end(body), options);

describe("with pdf_as_text", () => {
  test("the reply to a tool is the text of the document, with the other headers of the server", async () => {
    const { opened, url } = await serving(pdf("One", "Two"));
    const call = opened.open(TEXT);
    const reply = await ask(call, url);
    expect(reply).toMatchObject({ ok: true, status: 200 });
    const headers = Object.fromEntries(reply.ok ? (reply.headers ?? []) : []);
    expect(headers).toMatchObject({ "content-type": "application/vnd.postern.pdf+json", etag: '"one"' });
    expect(headers).not.toHaveProperty("content-length");
    expect(JSON.parse(textOf(reply))).toEqual({
      pages: ["One", "Two"],
      count: 2,
      title: "",
      author: "",
      created: "",
      language: "",
    });
    expect(call.traffic).toMatchObject([{ status: 200, bytes: Buffer.byteLength(textOf(reply)) }]);
  });

  test("a document is known by its first bytes or by its type; nothing else is changed", async () => {
    const { opened, url } = await withServer(({ path }, response) => {
      if (path === "/bytes") response.writeHead(200, { "content-type": "text/html" }).end(pdf("One"));
      else if (path === "/type")
        response.writeHead(200, HEADERS).end(Buffer.concat([Buffer.from("\n"), pdf("One")]));
      else if (path === "/missing") response.writeHead(404, HEADERS).end("no such document");
      else response.writeHead(200, { "content-type": "text/html" }).end("<p>about a %PDF-1.7</p>");
    });
    const call = opened.open(TEXT);
    expect(JSON.parse(textOf(await ask(call, `${url}/bytes`)))).toMatchObject({ pages: ["One"] });
    expect(JSON.parse(textOf(await ask(call, `${url}/type`)))).toMatchObject({ pages: ["One"] });
    expect(textOf(await ask(call, `${url}/missing`))).toBe("no such document");
    expect(textOf(await ask(call, `${url}/page`))).toBe("<p>about a %PDF-1.7</p>");
  });

  test.each<[what: string, body: Buffer, problem: string, options?: BrokerageOptions]>([
    ["an encrypted one", LOCKED, "is protected by a password"],
    ["a damaged one", pdf("One").subarray(0, 200), "cannot be read: it is damaged"],
    [
      "one that takes too long",
      pdf("One"),
      "cannot be read: it took longer than 0.001 seconds",
      { pdf: { millis: 1, memoryBytes: 2 ** 30 } },
    ],
  ])("%s is a problem in words", async (_, body, problem, options) => {
    const { opened, url } = await serving(body, HEADERS, options);
    expect(JSON.parse(textOf(await ask(opened.open(TEXT), url)))).toEqual({ problem });
  });

  test("one of more than 10 MiB is refused like any other reply", async () => {
    const { opened, url } = await serving(Buffer.concat([pdf("One"), Buffer.alloc(10 * 1024 * 1024)]));
    expect(textOf(await ask(opened.open(TEXT), url))).toMatch(
      /^refused: api\.test:\d+ answered with more than 10485760 bytes, which is the most that is read\.$/,
    );
  });

  test("a secret in its text is replaced, and one in disguise is withheld", async () => {
    const { opened, url } = await withServer(({ path }, response) => {
      const text = path === "/plain" ? SECRET : [..."planted-value-1"].reverse().join("");
      response.writeHead(200, HEADERS).end(packed(`before ${text} after`));
    });
    await opened.vault.secrets.set("token", SECRET);
    await opened.vault.secrets.set("other", "planted-value-1");
    const call = opened.open(TEXT);
    expect(JSON.parse(textOf(await ask(call, `${url}/plain`)))).toMatchObject({
      pages: ["before [secret] after"],
    });
    expect(textOf(await ask(call, `${url}/reversed`))).toMatch(
      /^refused: The answer of api\.test:\d+ holds the value of a secret in another form, so it was withheld\.$/,
    );
  });

  test("a recording keeps the document, and plays it back as text without network", async () => {
    const { server, opened, url } = await serving(pdf("One"));
    const file = join(opened.home, "tape.json");
    const live = textOf(await ask(opened.open(TEXT, { tape: recordTo(file, {}, String) }), url));
    const elsewhere = await trackedBrokerage({ privateHosts: [`api.test:${server.port}`] });
    const replay = async (http: object) => ask(elsewhere.open(http, { tape: await replayFrom(file) }), url);
    expect(textOf(await replay(TEXT))).toBe(live);
    expect(textOf(await replay(everywhere("api.test")))).toBe(pdf("One").toString());
    expect(server.requests).toHaveLength(1);
  });
});

test("without pdf_as_text a tool gets the bytes of a PDF", async () => {
  const { opened, url } = await serving(pdf("One"));
  const reply = await ask(opened.open(everywhere("api.test")), url);
  expect(reply).toMatchObject({
    ok: true,
    headers: expect.arrayContaining([["content-type", "application/pdf"]]),
  });
  expect(textOf(reply)).toBe(pdf("One").toString());
});
