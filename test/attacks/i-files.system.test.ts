/** Files that are small to send and large to open, through every door that takes files. */
import { deflateSync } from "node:zlib";
import { expect } from "vitest";
import { createDocumentReader } from "../../kernel/files/document-reader.ts";
import { takeImages } from "../../plugins/agent/threads/attachments/stored.ts";
import { attack } from "../support/attacks.ts";
import { pdf, pdfOf, stream } from "../support/pdf.ts";
import { OPERATOR_TOKEN, openGateway } from "../support/services/gateway.ts";
import { startService } from "../support/services/responses.ts";
import { afterThisTest } from "../support/undo.ts";

const padded = (...bytes: readonly (string | number[])[]) =>
  Buffer.concat([
    ...bytes.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part))),
    Buffer.alloc(40),
  ]);
/** Headers of pictures of gigabytes. */
const IMAGES = {
  "a.png": padded("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", [0, 1, 0, 0, 0, 1, 0, 0]),
  "a.gif": padded("GIF89a", [0xff, 0xff, 0xff, 0xff]),
  "a.webp": padded("RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0", [0xff, 0xff, 0, 0xff, 0xff, 0]),
  "a.jpg": padded([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xff, 0xc2, 0, 11, 8, 0xff, 0xff, 0xff, 0xff]),
};

attack("I", "A picture of gigabytes is refused in words at every door", async () => {
  const gateway = await openGateway();
  const service = await startService();
  for (const [name, data] of Object.entries(IMAGES)) {
    const form = new FormData();
    form.set("file", new Blob([Uint8Array.from(data)]), name);
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    const uploaded = await fetch(`${gateway.url}/api/attachments`, { method: "POST", headers, body: form });
    expect(uploaded.status, name).toBe(400);
    expect(await uploaded.text()).toMatch(/ × 65,53\d pixels.*"image_too_large"/);
    const url = `data:image/png;base64,${data.toString("base64")}`;
    for (const content of [
      { type: "input_image", image_url: url },
      { type: "input_file", filename: name, file_data: url },
    ]) {
      const input = [{ role: "user", content: [content] }];
      const answer = await service.send("POST", "/openai/v1/responses", { model: "default", input });
      expect(answer.status, `${name} ${content.type}`).toBe(400);
      expect(await answer.text()).toMatch(/image_too_large/);
    }
    const attachment = { id: "1", kind: "image", mime: "image/png", size: data.length } as const;
    expect(takeImages([{ attachment, data }])).toMatchObject({ kept: [], notes: [/too large/] });
  }
});

attack("I", "A PDF that lies about itself ends in words, and the next one is read", async () => {
  const reader = createDocumentReader({ millis: 10_000, memoryBytes: 400 * 2 ** 20 });
  afterThisTest(() => reader.close());
  const plain = pdf("Hello").toString("latin1");
  const packed = (data: Buffer, times: number) =>
    Array.from({ length: times }).reduce<Buffer>((inner) => deflateSync(inner, { level: 9 }), data);
  const filters = (count: number) => `/Filter [${"/FlateDecode ".repeat(count)}]`;
  const hostile = {
    "a thousand million pages": plain.replace("/Count 1", "/Count 999999999"),
    "a tree of pages that is its own branch": plain.replace("/Kids [4 0 R]", "/Kids [2 0 R]"),
    "brackets without end": pdfOf([stream(Buffer.alloc(3_000_000, "["))]).toString("latin1"),
    "names without end": plain.replace("/BaseFont /Helvetica", `/BaseFont /${"A".repeat(2_000_000)}`),
    "packed twice": pdfOf([stream(packed(Buffer.alloc(200_000_000, "(a) Tj "), 2), filters(2))]).toString(
      "latin1",
    ),
  };
  for (const [what, data] of Object.entries(hostile)) {
    const read = await reader.read("eve", "pdf", Buffer.from(data, "latin1"));
    expect("problem" in read ? read.problem : "text", what).toMatch(
      /^(?:text|cannot be read: .*|has no text: .*)$/,
    );
  }
  // Starting a process for it takes part of these ten seconds on a busy machine.
  await expect
    .poll(() => reader.read("ann", "pdf", pdf("Hello")))
    .toMatchObject({ passages: [{ text: "Hello", page: 1 }] });
});
