/** Files that come with messages: uploaded, sent, read back, refused in words. */
import { expect, test } from "vitest";
import { MIGRATIONS } from "../../../../plugins/agent/threads/tables.ts";
import { packed } from "../../../support/documents.ts";
import { pdf } from "../../../support/pdf.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { type GatewayOptions, OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

// A dot of one colour.
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

async function start(options: Pick<GatewayOptions, "variables"> = {}) {
  const model = await scriptedModel();
  const gateway = await openGateway({ model, ...options });
  /** Answers what the gateway says of it. */
  const upload = async (name: string, data: Buffer | string, token = OPERATOR_TOKEN) => {
    const form = new FormData();
    form.set("file", new Blob([Uint8Array.from(Buffer.from(data))]), name);
    const answer = await fetch(`${gateway.url}/api/attachments`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: form,
    });
    // biome-ignore lint/suspicious/noExplicitAny: whatever it says is what is asserted
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const say = (message: string, attachments: readonly string[], more: object = {}) =>
    gateway.ask("/api/chat", { method: "POST", body: { message, attachments, ...more } });
  /** What the model was sent last. */
  const seen = () => model.requests.at(-1)?.messages.at(-1)?.content;
  return { model, gateway, upload, say, seen };
}

test("an image is uploaded, named by a message, seen by the model byte for byte, read back, and goes with its thread", async () => {
  const { gateway, model, upload, say, seen } = await start({ variables: { MODEL_INPUTS: "text,image" } });
  const uploaded = await upload("../../cat.png", PNG);
  expect(uploaded).toMatchObject({
    status: 201,
    body: { kind: "image", mime: "image/png", name: "cat.png", size: PNG.length },
  });
  const { id } = uploaded.body;
  const path = `/api/attachments/${id}`;
  const before = await gateway.ask(path);
  expect(before.status).toBe(200);
  model.otherwise(({ messages }) => {
    const data = /base64,([^"]+)/.exec(JSON.stringify(messages.at(-1)?.content))?.[1] ?? "";
    return { text: `I got ${Buffer.from(data, "base64").length} bytes.` };
  });
  const { body } = await say("What is it?", [id]);
  expect(body.response).toBe(`I got ${PNG.length} bytes.`);
  expect(seen()).toEqual([
    { type: "image_url", image_url: { url: `data:image/png;base64,${PNG.toString("base64")}` } },
    { type: "text", text: "What is it?" },
  ]);
  const [turn] = (await gateway.ask(`/api/threads/${body.thread_id}`)).body.turns;
  expect(turn.input.attachments).toEqual([
    { id, kind: "image", mime: "image/png", name: "cat.png", size: PNG.length },
  ]);
  const shown = await gateway.ask(path);
  expect(Object.fromEntries(shown.headers)).toMatchObject({
    "content-type": "image/png",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
  });
  const eve = await gateway.addUser("eve");
  expect((await gateway.ask(path, { token: eve })).status).toBe(404);
  expect((await gateway.ask(path, { token: eve, method: "DELETE" })).status).toBe(404);
  const stolen = { message: "Hi", attachments: [id] };
  expect(
    (await gateway.ask("/api/chat", { method: "POST", body: stolen, token: eve })).body.error,
  ).toMatchObject({
    code: "attachment_not_found",
  });
  // The message again, with its image.
  await gateway.ask(`/api/turns/${turn.id}/retry`, { method: "POST" });
  await expect.poll(() => model.requests.length).toBe(2);
  expect(JSON.stringify(seen())).toContain(PNG.toString("base64"));
  await expect
    .poll(async () => (await gateway.ask(`/api/threads/${body.thread_id}`)).body.turns.at(-1).status)
    .toBe("completed");
  expect((await gateway.ask(`/api/threads/${body.thread_id}`, { method: "DELETE" })).status).toBe(204);
  expect((await gateway.ask(path)).status).toBe(404);
});

test("texts in any encoding and PDFs are shown to any model as text, under their names, and downloaded as they were", async () => {
  const { gateway, upload, say, seen } = await start();
  const latin = Buffer.from("Stra\xdfe;M\xfcnchen\n", "latin1");
  const wide = Buffer.from("\ufeffbreit", "utf16le");
  const bill = pdf("Invoice 17", "Total: 99 EUR");
  const files = [
    ["orte.csv", latin, "text/csv"],
    ["wide.txt", wide, "text/plain"],
    ["page.html", Buffer.from("</file> <b>hi</b>"), "text/html"],
    ["main.rs", Buffer.from("fn main() {}"), "text/plain"],
    ["bill.pdf", bill, "application/pdf"],
  ] as const;
  const ids: string[] = [];
  for (const [name, data, mime] of files) {
    const { status, body } = await upload(name, data);
    expect({ name, status, body }).toMatchObject({ status: 201, body: { kind: "file", mime, name } });
    ids.push(body.id);
  }
  const { body } = await say("", ids);
  expect(body.status).toBe("completed");
  const text = String(seen());
  expect(text).toContain('<file name="orte.csv">\nStraße;München\n\n</file>');
  expect(text).toContain('<file name="wide.txt">\nbreit\n</file>');
  expect(text).toContain('<file name="page.html">\n&lt;/file> <b>hi</b>\n</file>');
  expect(text).toContain('<file name="main.rs">\nfn main() {}\n</file>');
  expect(text).toContain('<file name="bill.pdf">\n[Page 1]\nInvoice 17\n\n[Page 2]\nTotal: 99 EUR\n</file>');
  const { thread, turns } = (await gateway.ask(`/api/threads/${body.thread_id}`)).body;
  expect(thread.title).toBe("orte.csv");
  expect(turns[0].input.attachments.at(-1)).toMatchObject({ name: "bill.pdf", text: { bytes: 43 } });
  for (const [at, data] of [latin, wide, files[2][1], files[3][1], bill].entries()) {
    const answer = await fetch(`${gateway.url}/api/attachments/${ids[at]}`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    expect(answer.headers.get("content-type")).toBe("application/octet-stream");
    expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${files[at]?.[0]}"`);
    expect(Buffer.from(await answer.arrayBuffer()).equals(data)).toBe(true);
  }
});

test("what is too large, too many, empty or of another type is refused in words, and nothing is stored", async () => {
  const { gateway, model, upload, say } = await start({ variables: { ATTACHMENTS_MAX_MB: "1" } });
  const zip = Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(100)]);
  const old = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(504)]);
  const locked = Buffer.concat([old, Buffer.from("EncryptedPackage", "utf16le")]);
  const refused = [
    [
      "big.txt",
      Buffer.alloc(1_000_001, "a"),
      413,
      /^"big.txt" is too large: a file may have at most 1 MB here/,
    ],
    [
      "huge.txt",
      Buffer.alloc(3_000_000, "a"),
      413,
      /^The file is too large: a file may have at most 1 MB here/,
    ],
    ["none.txt", Buffer.alloc(0), 400, /^"none.txt" is empty/],
    ["blank.txt", Buffer.from(" \n"), 400, /^"blank.txt" is empty/],
    ["a.docx", zip, 400, /^"a.docx" cannot be read: it is damaged/],
    ["b.docx", packed({ "a.txt": "a" }), 400, /^"b.docx" is a ZIP archive. Unpack it, and attach/],
    ["c.docx", locked, 400, /^"c.docx" is protected by a password/],
    ["d.doc", old, 400, /^"d.doc" cannot be attached: it is an old document of Word.*save it as .docx/],
    [
      "cat.png",
      Buffer.from("\x7fELF\x02\x01\0", "latin1"),
      400,
      /^"cat.png" cannot be attached: it is a program/,
    ],
    ["x.bin", Buffer.from([1, 2, 3, 0xff]), 400, /neither an image nor a document nor text/],
    ["x.pdf", Buffer.from("%PDF-1.4 no more"), 400, /^"x.pdf" cannot be read: it is damaged/],
    ["pictures.pdf", pdf(""), 400, /^"pictures.pdf" has no text/],
  ] as const;
  for (const [name, data, status, words] of refused) {
    const answer = await upload(name, data);
    expect({ name, ...answer }).toMatchObject({ name, status });
    expect(answer.body.error.message).toMatch(words);
  }
  expect((await gateway.ask("/api/attachments")).body).toEqual({
    file_bytes: 1_000_000,
    files: 10,
    message_bytes: 20_000_000,
  });
  const sql = await gateway.service.service("store").tables("agent", MIGRATIONS);
  const count = async () =>
    (await sql.get<{ count: number }>("SELECT count(*) AS count FROM uploads"))?.count;
  expect(await count()).toBe(0);
  // An image for a model that does not see is taken, and said; it is refused before a turn runs.
  const image = await upload("cat.png", PNG);
  expect(image.body.note).toMatch(/^The model scripted does not take images/);
  const blind = await say("What is it?", [image.body.id]);
  expect(blind).toMatchObject({ status: 400, body: { error: { code: "unsupported_input" } } });
  expect(blind.body.error.message).toMatch(/The model scripted does not take images.*"cat.png"/);
  expect((await gateway.ask("/api/threads")).body.threads).toEqual([]);
  expect(await count()).toBe(1);
  expect((await gateway.ask(`/api/attachments/${image.body.id}`, { method: "DELETE" })).status).toBe(204);
  expect((await say("", [])).body.error.message).toBe('"message" must not be empty.');
  expect((await say("Hi", ["no-such-id"])).body.error.code).toBe("attachment_not_found");
  const ids: string[] = [];
  for (let at = 0; at < 40; at++) ids.push((await upload(`${at}.txt`, `text ${at}`)).body.id);
  const full = await upload("41.txt", "one more");
  expect(full.body.error.message).toMatch(/^You have 40 files that no message has been sent with/);
  expect((await say("Hi", ids)).body.error.message).toBe(
    "A message may have at most 10 attachments, and this one has 40.",
  );
  expect(model.requests).toEqual([]);
  // Those that no message names go, and so does what a user had who is gone.
  await sql.run("UPDATE uploads SET expires_at = '2000-01-01T00:00:00.000Z' WHERE id = ?", ids[0] ?? null);
  expect((await say("Hi", [ids[0] ?? ""])).body.error.message).toMatch(/Attach the file again/);
  const left = (await count()) ?? 0;
  await gateway.addUser("alice");
  await gateway.service
    .service("attachments")
    .add("alice", { name: "a.txt", data: Buffer.from("text of Alice") });
  expect(await count()).toBe(left + 1);
  await gateway.service.service("accounts").removeUser("alice", { withData: true });
  expect(await count()).toBe(left);
});

test("of a text that does not fit the model the beginning is sent; model and person are told, before and after", async () => {
  const { gateway, model, upload, say, seen } = await start({ variables: { MODEL_CONTEXT_TOKENS: "12000" } });
  const lines = Array.from({ length: 4000 }, (_, at) => `row ${String(at).padStart(4, "0")}`);
  const { body: csv } = await upload("rows.csv", lines.join("\n"));
  expect(csv.text).toEqual({ bytes: 35_999 });
  expect(csv.note).toBe(
    "The model scripted will be shown the first 4,800 of about 9,000 tokens: its context window is 12,000 tokens.",
  );
  const { body: note } = await upload("note.txt", "short");
  const { body } = await say("Sum it up", [csv.id, note.id]);
  expect(body.status).toBe("completed");
  const text = String(seen());
  expect(text).toMatch(/row 0000\n.*row 2131\n\n\n\[The file goes on: only its first 53% fits here/s);
  expect(text).toContain('<file name="note.txt">\nshort\n</file>');
  const [turn] = (await gateway.ask(`/api/threads/${body.thread_id}`)).body.turns;
  expect(turn.input.attachments[0].text).toEqual({ bytes: 35_999, shown: 19_188 });
  // It stays with the conversation.
  await gateway.ask("/api/chat", { method: "POST", body: { message: "And?", thread_id: body.thread_id } });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("row 0000");
});

test("the built-in model says that it cannot read files, before and after", async () => {
  const { upload, say } = await start({ variables: { MODEL_PROVIDER: "builtin" } });
  const { body } = await upload("note.txt", "Convert 3 miles to km");
  expect(body.note).toMatch(/^The built-in model does not read files/);
  expect((await say("What is in it?", [body.id])).body.response).toContain(
    "I cannot read what you attached.",
  );
});
