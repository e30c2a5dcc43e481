/** Forms with files. Within the limit that the reader has they fit into memory: nothing a caller sends is written to disk. */
import type { IncomingMessage } from "node:http";
import { Writable } from "node:stream";
import type { File, Formidable, Options, Part } from "formidable";
import type { Context } from "koa";
import { parseBody } from "./body-parser.ts";
import type { Form } from "./routes.ts";

export type FormReader = (context: Context) => Promise<Form>;

// Far more than our forms have.
const MAX_PARTS = 32;
const PART_HEADER_BYTES = 8192;
// As formidable finds it.
const BOUNDARY = /boundary=(?:"([^"]+)"|([^;]+))/i;

const contents = new WeakMap<object, Buffer[]>();

/** `limit`: of the form as a whole, in bytes. */
export function createFormReader(limit: number): FormReader {
  return async (context) => {
    if (!context.is("multipart/form-data")) context.throw(415);
    if (!/^(?:identity)?$/i.test(context.get("content-encoding"))) context.throw(415);
    if (Number(context.get("content-length")) > limit) context.throw(413);
    const parse = parseBody({
      json: false,
      urlencoded: false,
      text: false,
      multipart: true,
      formidable: {
        enabledPlugins: [(form, options) => readParts(form, options, context.req, limit)],
        fileWriteStreamHandler: (file) => collect(file as object),
        onPart: takePart,
        maxFields: MAX_PARTS,
        maxFiles: MAX_PARTS,
        maxFieldsSize: limit,
        maxFileSize: limit,
        maxTotalFileSize: limit,
        // The handler says better what is wrong with a file that is empty.
        allowEmptyFiles: true,
        minFileSize: 0,
      },
    });
    await parse(context, async () => {});
    return formOf(context);
  };
}

function formOf({ request: { body = {}, files = {} } }: Context): Form {
  const file = (name: string): NonNullable<ReturnType<Form["file"]>> | undefined => {
    const [found] = [files[name]].flat();
    const chunks = found && contents.get(found);
    return chunks && { ...described(found), bytes: Buffer.concat(chunks) };
  };
  const bytes = (name: string) => file(name)?.bytes;
  return {
    file,
    bytes,
    text: (name) =>
      [(body as Record<string, string | string[]>)[name]].flat()[0] ?? (bytes(name) as Buffer)?.toString(),
  };
}

const described = ({ originalFilename, mimetype }: File) => ({
  name: originalFilename ?? "",
  mime: mimetype ?? "",
});

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

/**
 * formidable bounds what is in the parts. This bounds the form as a whole, and the headers of its parts: a second parser reads each
 * chunk before the form does, because the form's patterns would take hours for a header of megabytes.
 */
async function readParts(
  form: InstanceType<typeof Formidable>,
  options: Partial<Options>,
  request: IncomingMessage,
  limit: number,
): Promise<void> {
  const { multipart, MultipartParser } = await import("formidable");
  let bytes = 0;
  let longest = 0;
  class HeaderParser extends MultipartParser {
    /** It is called with each piece as it is found, which a listener would hear of only later. */
    override push(piece: Piece | null): boolean {
      if (piece?.name === "partBegin") bytes = 0;
      if (piece?.name === "headerField" || piece?.name === "headerValue") bytes += piece.end - piece.start;
      longest = Math.max(longest, bytes);
      return true;
    }
  }
  multipart.call(form, form, options);
  const [, quoted, bare] = BOUNDARY.exec(request.headers["content-type"] ?? "") ?? [];
  const headers = new HeaderParser();
  headers.initWithBoundary(quoted ?? bare ?? "");
  // The form's own parser says what is wrong.
  headers.on("error", () => {});
  const look = (chunk: Buffer) => void headers.write(chunk);
  request.on("data", look);
  form.on("error", () => request.off("data", look));
  form.on("progress", (received) => {
    if (received > limit) throw refusal(413, "the form is too large");
    if (longest > PART_HEADER_BYTES) throw refusal(400, "the header of a part is too long");
  });
}

/** A piece that formidable's parser found, as a range of its buffer. */
interface Piece {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

function refusal(status: number, message: string): Error {
  return Object.assign(new Error(message), { status });
}
