/** Mails that are made to be costly: they end at a bound, in the thread that reads them. */
import { expect, test } from "vitest";
import { createMailReader } from "../../../../plugins/email/reading/mail-reader.ts";
import { mailOf } from "../../../support/mails.ts";
import { afterThisFile } from "../../../support/undo.ts";

const HEADER = [
  "Authentication-Results: mx.postern.test; dmarc=pass header.from=honest.test",
  "Received: from mail.honest.test by mx.postern.test; Tue, 17 Nov 2026 10:00:00 +0000",
  "From: Ann <ann@honest.test>",
  "To: agent@postern.test",
];
const UNREAD = "[The text of this mail could not be read: it has too many parts, or is damaged.]";
const later = afterThisFile();
const reader = createMailReader(3000);
later(() => reader.close());
const read = (source: Uint8Array) =>
  reader.read({ source, address: "agent@postern.test", authservId: "mx.postern.test" });

function nested(depth: number): Uint8Array {
  const levels = Array.from(
    { length: depth },
    (_, at) => `Content-Type: multipart/mixed; boundary="b${at}"\r\n\r\n--b${at}\r\n`,
  );
  return Buffer.from(`${HEADER.join("\r\n")}\r\n${levels.join("")}Content-Type: text/plain\r\n\r\nbottom`);
}

test.each([
  ["parts within parts", nested(5000)],
  [
    "a hundred thousand parts",
    mailOf([...HEADER, 'Content-Type: multipart/mixed; boundary="b"'], "--b\n\nx\n".repeat(100_000)),
  ],
])("%s are not read, and the sender is still known", async (_, source) => {
  const mail = await read(source);
  expect(mail).toMatchObject({ text: UNREAD, files: [], notAuthentic: undefined });
  expect(mail.sender.address).toBe("ann@honest.test");
});

test("HTML in HTML ends at the limit of time, and the next mail is read", async () => {
  const bomb = await read(mailOf([...HEADER, "Content-Type: text/html"], "<div>".repeat(400_000)));
  expect(bomb.sender.address).toBe("ann@honest.test");
  expect(await read(mailOf(HEADER, "Hello"))).toMatchObject({ text: "Hello" });
});

test("a header without end is refused", async () => {
  await expect(read(Buffer.from(`X-Long: ${"a".repeat(2_000_000)}\r\n\r\nx`))).rejects.toThrow();
});
