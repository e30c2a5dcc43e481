/** Hostile PDFs end in words, and people take turns. */
import { deflateSync } from "node:zlib";
import { expect, test } from "vitest";
import { createDocumentReader, type ReaderLimits } from "../../../kernel/files/document-reader.ts";
import { pdf, pdfOf, stream } from "../../support/pdf.ts";
import { afterThisTest } from "../../support/undo.ts";

function reader(limits?: ReaderLimits) {
  const made = createDocumentReader(limits);
  afterThisTest(() => made.close());
  return (data: Buffer, user = "ann") => made.read(user, "pdf", data);
}

test("a PDF that unpacks to gigabytes, never ends, is locked or broken ends in words", async () => {
  const zeros = deflateSync(Buffer.alloc(300_000_000, "(a) Tj "), { level: 9 });
  const bomb = pdfOf([stream(zeros, "/Filter /FlateDecode")]);
  expect(await reader({ millis: 600_000, memoryBytes: 250 * 2 ** 20 })(bomb)).toEqual({
    problem: "cannot be read: it needs too much memory",
  });
  expect(await reader({ millis: 1000, memoryBytes: 2 ** 32 })(bomb)).toEqual({
    problem: "cannot be read: it took longer than 1 seconds",
  });
  const read = reader();
  const locked = pdfOf(
    [stream(Buffer.from("BT ET"))],
    `/ID [<00><00>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <${"00".repeat(32)}> /U <${"00".repeat(32)}> /P -4 >>`,
  );
  expect(await read(locked)).toEqual({
    problem: "is protected by a password. Remove it, and attach the file again",
  });
  expect(await read(pdf("Hello").subarray(0, 200))).toEqual({
    problem: "cannot be read: it is damaged",
  });
  expect(await read(pdf("Hello", "World"))).toMatchObject({
    passages: [
      { text: "Hello", page: 1 },
      { text: "World", page: 2 },
    ],
  });
});

test("people take turns: somebody's many PDFs do not hold up another's one", async () => {
  const read = reader();
  const order: string[] = [];
  const one = async (user: string) => {
    await read(pdf("Hello"), user);
    order.push(user);
  };
  await Promise.all([...Array.from({ length: 4 }, () => one("eve")), one("ann")]);
  expect(order.indexOf("ann")).toBe(1);
  const many = Array.from({ length: 20 }, async () => read(pdf("Hello"), "eve"));
  const results = await Promise.allSettled(many.slice(17));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  void Promise.allSettled(many);
});
