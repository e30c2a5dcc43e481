/** A mail: who wrote it to whom, what it says, and the names of what came with it. */
import { simpleParser } from "mailparser";
import { decoderOf } from "./archive.ts";
import { createFlow } from "./flow.ts";
import { readHtml } from "./html.ts";
import type { Passages } from "./passages.ts";

const MAX_SUBJECT_LENGTH = 300;
const MAX_FILES = 100;
const MAX_HEADER_BYTES = 128 * 2 ** 10;
const MAX_PARTS = 200;

export async function readMail(data: Buffer, passages: Passages): Promise<void> {
  const options = {
    ...{ skipHtmlToText: true, skipTextToHtml: true, skipImageLinks: true },
    // Of the splitter below it, which has no types here.
    ...{ maxHeadSize: MAX_HEADER_BYTES, maxChildNodes: MAX_PARTS },
  };
  const {
    from,
    to,
    cc,
    date,
    subject: said = "",
    text,
    html,
    attachments,
  } = await simpleParser(data, options);
  const subject = said.slice(0, MAX_SUBJECT_LENGTH).toWellFormed();
  const flow = createFlow(passages, { heading: subject });
  const line = (name: string, value: string | undefined) => (value ? [`${name}: ${value}`] : []);
  const everybody = (given: typeof to) =>
    [given ?? []]
      .flat()
      .map((one) => one.text)
      .join(", ");
  flow.write(
    [
      ...line("From", from?.text),
      ...line("To", everybody(to)),
      ...line("Cc", everybody(cc)),
      ...line("Date", date && !Number.isNaN(date.getTime()) ? date.toISOString() : undefined),
      ...line("Subject", subject),
    ].join("\n"),
  );
  flow.paragraph();
  flow.write(text ?? "");
  flow.end({ heading: subject });
  // Decoded by the mail's headers already, whatever charset the page names.
  if (text === undefined && html !== false) readHtml(Buffer.from(html), passages, decoderOf(Buffer.of()));
  for (const { filename, contentType, size } of attachments.slice(0, MAX_FILES)) {
    flow.write(`Attached: ${filename ?? contentType} (${size.toLocaleString("en")} bytes)`);
    flow.paragraph();
  }
  flow.end();
}
