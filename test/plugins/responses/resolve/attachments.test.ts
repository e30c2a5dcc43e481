/** Images, files and sounds in requests, up to where a turn has them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Fault } from "../../../../kernel/fault.ts";
import type { GivenItem } from "../../../../plugins/responses/parse/items.ts";
import { parseOpen } from "../../../../plugins/responses/parse/open.ts";
import { createRemoteFiles, resolveAttachments } from "../../../../plugins/responses/resolve/attachments.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const dataUrl = (mime: string, data: Buffer | string) =>
  `data:${mime};base64,${Buffer.from(data).toString("base64")}`;

const itemsOf = (...content: object[]) =>
  parseOpen({ model: "any", input: [{ role: "user", content }] }, true).items as readonly GivenItem[];

async function serve(answer: (url: string) => { status?: number; mime?: string; body: Buffer | string }) {
  const server = createServer((request, response) => {
    const { status = 200, mime = "image/png", body } = answer(request.url ?? "");
    response.writeHead(status, { "content-type": mime, location: "http://127.0.0.1/" });
    response.end(body);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}` };
}

function resolver(privateHosts: ReadonlySet<string> = new Set()) {
  const remote = createRemoteFiles(privateHosts);
  onTestFinished(() => remote.close());
  const files: Record<string, { mime: string; name: string; data: Buffer }> = {
    "file-1": { mime: "application/pdf", name: "plan.pdf", data: Buffer.from("%PDF-1.7 …") },
  };
  const textOf = async (_user: string, { name, data }: { name: string; data: Uint8Array }) => {
    if (data.length > 4) return `${name} says so`;
    throw new Fault("invalid", "unreadable_document", `"${name}" cannot be read: it is damaged.`);
  };
  const parts = { remote, resolveFile: async (_user: string, id: string) => files[id], textOf };
  return (...content: object[]) => resolveAttachments("ann", itemsOf(...content), parts);
}

test("an image in the request becomes an attachment with its bytes, known by what they are", async () => {
  const part = { type: "input_image", image_url: dataUrl("image/jpeg", PNG), detail: "low" };
  const { items, attached } = await resolver()({ type: "input_text", text: "What is it?" }, part);
  expect(items).toMatchObject([
    {
      text: "What is it?",
      attachments: [{ kind: "image", mime: "image/png", size: PNG.length, detail: "low" }],
    },
  ]);
  expect(attached).toMatchObject([{ data: PNG }]);
});

test("a Word document stays a file with the text that a model reads; a damaged one is refused", async () => {
  const resolve = resolver();
  const file = (data: string) => ({
    type: "input_file",
    filename: "lease.docx",
    file_data: Buffer.from(data).toString("base64"),
  });
  const { items, attached } = await resolve(file("PK\x03\x04 and more"));
  expect(items).toMatchObject([{ attachments: [{ kind: "file", name: "lease.docx", text: { bytes: 18 } }] }]);
  expect(attached.map(({ text }) => Buffer.from(text ?? []).toString())).toEqual(["lease.docx says so"]);
  await expect(resolve(file("PK\x03\x04"))).rejects.toMatchObject({ code: "unreadable_document" });
});

test("a file that is a text becomes part of the message; another stays a file", async () => {
  const resolve = resolver();
  const csv = { type: "input_file", filename: "a.csv", file_data: Buffer.from("a;b").toString("base64") };
  const { items, attached } = await resolve({ type: "input_text", text: "Sum" }, csv);
  expect(items).toMatchObject([{ text: 'Sum\n\n<file name="a.csv">\na;b\n</file>' }]);
  expect(attached).toEqual([]);
  const stored = await resolve({ type: "input_file", file_id: "file-1" });
  expect(stored.items).toMatchObject([
    { attachments: [{ kind: "file", mime: "application/pdf", name: "plan.pdf", file: "file-1" }] },
  ]);
});

test.each(["a.constructor", "a.__proto__", "a", "."])(
  "a file called %s is one of an unknown kind",
  async (filename) => {
    const { items } = await resolver()({ type: "input_file", filename, file_data: "AAECAw==" });
    expect(items).toMatchObject([{ attachments: [{ kind: "file", mime: "application/octet-stream" }] }]);
  },
);

test("a file is an image where its bytes show it, not where it says so", async () => {
  const file = (mime: string, data: Buffer | string) =>
    resolver()({ type: "input_file", filename: "a", file_data: dataUrl(mime, data) });
  expect((await file("application/pdf", PNG)).items).toMatchObject([{ attachments: [{ kind: "image" }] }]);
  for (const data of ["<svg/>", "no image"])
    expect((await file("image/svg+xml", data)).items).toMatchObject([
      { text: expect.stringContaining(data) },
    ]);
});

test("a URL is read at an address that may be dialled, up to the limit, and never followed", async () => {
  const { host, url } = await serve((path) => {
    if (path === "/moved") return { status: 302, body: "" };
    return { body: path === "/large" ? Buffer.alloc(21 * 1024 * 1024) : PNG };
  });
  const resolve = resolver(new Set([host]));
  const image = (path: string) => ({ type: "input_image", image_url: `${url}${path}` });
  expect((await resolve(image("/a"))).items).toMatchObject([
    { attachments: [{ mime: "image/png", url: `${url}/a` }] },
  ]);
  await expect(resolve(image("/moved"))).rejects.toMatchObject({ code: "url_not_readable" });
  await expect(resolve(image("/large"))).rejects.toMatchObject({ code: "attachments_too_large" });
  const nine = Array.from({ length: 9 }, () => image("/a"));
  await expect(resolve(...nine)).rejects.toMatchObject({ code: "too_many_urls" });
});

test.each([
  "http://example.com/a.png",
  "https://127.0.0.1/a.png",
  "https://[::1]/a.png",
  "https://169.254.169.254/latest/meta-data",
  "https://example.com:8443/a.png",
  "https://user:secret@example.com/a.png",
  "file:///etc/passwd",
  "ftp://example.com/a.png",
  "nonsense",
])("%s is refused in words", async (image_url) => {
  await expect(resolver()({ type: "input_image", image_url })).rejects.toMatchObject({
    kind: "invalid",
    param: "input[0].content[0].image_url",
    code: "url_not_readable",
  });
});

test.each([
  [{ type: "input_image" }, "input[0].content[0]"],
  [{ type: "input_image", image_url: "data:image/png,plain" }, "input[0].content[0].image_url"],
  [{ type: "input_image", image_url: "data:image/png;base64,a" }, "input[0].content[0].image_url"],
  [{ type: "input_image", image_url: "data:image/png;base64,####" }, "input[0].content[0].image_url"],
  [{ type: "input_file", file_data: "no base64!" }, "input[0].content[0].file_data"],
  [
    { type: "input_audio", input_audio: { data: "AAAA", format: "ogg" } },
    "input[0].content[0].input_audio.format",
  ],
  [{ type: "input_text" }, "input[0].content[0].text"],
  [{ text: "x" }, "input[0].content[0].type"],
])("%j is refused, naming the part", (part, param) => {
  expect(() => itemsOf(part)).toThrow(expect.objectContaining({ kind: "invalid", param }));
});

test.each([
  [{ type: "input_image", image_url: dataUrl("image/png", "no image") }, "invalid_image"],
  [{ type: "input_image", file_id: "file-2" }, "file_not_found"],
])("%j is refused when it is read", async (part, code) => {
  await expect(resolver()(part)).rejects.toMatchObject({ kind: "invalid", code });
});
