/** Forms with files. Within the limit of any body they fit into memory: nothing a caller sends is written to disk. */
import { type Readable, Writable } from "node:stream";
import type { Formidable, Options, Part } from "formidable";
import type { Context } from "koa";
import { readBody } from "../../../kernel/net/body.ts";
import { BODY_BYTES } from "./body-limits.ts";

export interface Form {
  /** Of a field, or of a file read as text. */
  text(name: string): string | undefined;
  /** Of a file. */
  bytes(name: string): Uint8Array | undefined;
}

// Far more than our forms have.
const MOST_PARTS = 32;
const PART_HEADER_BYTES = 8192;

const contents = new WeakMap<object, Buffer[]>();

const parse = readBody({
  json: false,
  urlencoded: false,
  text: false,
  multipart: true,
  formidable: {
    enabledPlugins: [readParts],
    fileWriteStreamHandler: (file) => collect(file as object),
    onPart: takePart,
    maxFields: MOST_PARTS,
    maxFiles: MOST_PARTS,
    maxFieldsSize: BODY_BYTES,
    maxFileSize: BODY_BYTES,
    maxTotalFileSize: BODY_BYTES,
    // The handler says better what is wrong with a file that is empty.
    allowEmptyFiles: true,
    minFileSize: 0,
  },
});

export async function readForm(context: Context): Promise<Form> {
  if (!context.is("multipart/form-data")) context.throw(415);
  if (!/^(?:identity)?$/i.test(context.get("content-encoding"))) context.throw(415);
  if (Number(context.get("content-length")) > BODY_BYTES) context.throw(413);
  await parse(context, async () => {});
  const { body = {}, files = {} } = context.request;
  const bytes = (name: string) => {
    const chunks = contents.get([files[name]].flat()[0] ?? {});
    return chunks && Buffer.concat(chunks);
  };
  return {
    bytes,
    text: (name) => [(body as Record<string, string | string[]>)[name]].flat()[0] ?? bytes(name)?.toString(),
  };
}

function collect(file: object): Writable {
  const chunks: Buffer[] = [];
  contents.set(file, chunks);
  return new Writable({
    write(bytes: Buffer, _, done) {
      chunks.push(bytes);
      done();
    },
  });
}

/** A part as it was sent: its transfer encoding has been undone, and formidable would take it for a character set. */
function takePart(part: Part & { transferEncoding?: string }, take: (part: Part) => void): void {
  part.transferEncoding = "utf-8";
  if (part.name !== "__proto__") take(part);
}

/** formidable bounds what is in the parts. This bounds the form as a whole, and their headers. */
async function readParts(form: InstanceType<typeof Formidable>, options: Partial<Options>): Promise<void> {
  const { multipart } = await import("formidable");
  multipart.call(form, form, options);
  form.on("progress", (received) => {
    if (received > BODY_BYTES) throw refusal(413, "the form is too large");
  });
  const { _parser: parser } = form as unknown as { readonly _parser: Readable | null };
  let bytes = 0;
  parser?.prependListener("data", ({ name, start, end }: Piece) => {
    if (name === "partBegin") bytes = 0;
    if (name === "headerField" || name === "headerValue") bytes += end - start;
    if (bytes > PART_HEADER_BYTES) parser.destroy(refusal(400, "the header of a part is too long"));
  });
}

/** What formidable's parser reads, as places in its buffer. */
interface Piece {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

function refusal(status: number, message: string): Error {
  return Object.assign(new Error(message), { status });
}
