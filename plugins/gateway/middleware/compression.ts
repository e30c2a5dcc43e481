/** Compresses responses, in the encodings that every browser accepts. */
import type { Middleware } from "koa";

// Everything but streams: an event has to leave when it happens.
const COMPRESSED = /^(?:application\/json|text\/(?!event-stream))/;
const WORTH_BYTES = 1024;

export function compressAnswers(): Middleware {
  let compress: Promise<Middleware> | undefined;
  return async (context, next) => {
    compress ??= import("koa-compress").then((module) =>
      module.default({
        filter: (type) => COMPRESSED.test(type),
        threshold: WORTH_BYTES,
        zstd: false,
        deflate: false,
      }),
    );
    return (await compress)(context, next);
  };
}
