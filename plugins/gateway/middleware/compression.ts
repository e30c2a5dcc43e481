/** Compresses finished answers that are worth it. Streams pass untouched: an event has to leave when it happens. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Middleware } from "koa";

const WORTH_BYTES = 1024;
// A middling quality: the highest take longer than they save on text made for one reader.
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const ENCODERS = {
  br: (bytes: Buffer) => promisify(brotliCompress)(bytes, QUALITY),
  gzip: promisify(gzip),
};

export function compressAnswers(): Middleware {
  return async (context, next) => {
    await next();
    if (!isFinished(context.body) || context.respond === false || context.response.get("Content-Encoding"))
      return;
    context.vary("Accept-Encoding");
    const encoding = context.acceptsEncodings("br", "gzip", "identity");
    if (encoding !== "br" && encoding !== "gzip") return;
    const bytes = bytesOf(context.body);
    if (bytes.length < WORTH_BYTES) return;
    // The whole header: `context.type` leaves out what stands behind the name, such as a version.
    const type = context.response.get("Content-Type");
    context.body = await ENCODERS[encoding](bytes);
    context.set("Content-Type", type);
    context.set("Content-Encoding", encoding);
  };
}

function isFinished(body: unknown): body is string | object {
  if (typeof body !== "object" || body === null) return typeof body === "string";
  const shape: unknown = Object.getPrototypeOf(body);
  return shape === Object.prototype || shape === Array.prototype;
}

function bytesOf(body: string | object): Buffer {
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}
