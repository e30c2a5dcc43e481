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
    const bytes = finishedText(context.body);
    if (bytes === undefined || context.respond === false || context.response.get("Content-Encoding")) return;
    context.vary("Accept-Encoding");
    const encoding = context.acceptsEncodings("br", "gzip", "identity");
    if (bytes.length < WORTH_BYTES || (encoding !== "br" && encoding !== "gzip")) return;
    const { type } = context;
    context.body = await ENCODERS[encoding](bytes);
    context.type = type;
    context.set("Content-Encoding", encoding);
  };
}

function finishedText(body: unknown): Buffer | undefined {
  if (typeof body === "string") return Buffer.from(body);
  const isPlain =
    typeof body === "object" &&
    body !== null &&
    [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(body));
  return isPlain ? Buffer.from(JSON.stringify(body)) : undefined;
}
