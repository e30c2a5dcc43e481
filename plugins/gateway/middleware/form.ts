/** A form with files, read whole: within the limit of any body it fits into memory, and nothing is left on disk. */
import type { IncomingMessage } from "node:http";
import type { Context } from "koa";
import { BODY_BYTES } from "./body-limits.ts";

export async function readForm(context: Context): Promise<FormData> {
  if (!context.is("multipart/form-data")) context.throw(415);
  const bytes = await readBytes(context.req);
  if (bytes === undefined) context.throw(413);
  const headers = { "content-type": context.get("content-type") };
  return new Response(bytes, { headers }).formData().catch(() => context.throw(400));
}

/** Undefined where it is too long. The rest is still read, and dropped: a client that is cut off sees no answer. */
function readBytes(request: IncomingMessage): Promise<Buffer<ArrayBuffer> | undefined> {
  let chunks: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length <= BODY_BYTES) {
        chunks.push(chunk);
        return;
      }
      chunks = [];
      resolve(undefined);
    });
    request.on("end", () => resolve(Buffer.concat(chunks)));
    request.on("error", reject);
  });
}
