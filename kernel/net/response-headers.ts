/** Every listener sends the same headers that keep a browser safe, and compresses its responses. */
import type { Middleware } from "koa";
import type { Proxies } from "./proxies.ts";

/** The directives of `Content-Security-Policy`; a source that is not named is forbidden. */
export type Policy = Readonly<Record<string, string[]>>;

const YEAR_SECS = 31_536_000;

// Everything but streams: an event has to leave when it happens.
const COMPRESSED = /^(?:application\/json|text\/(?!event-stream))/;
const WORTH_BYTES = 1024;

export function secureAnswers(proxies: Proxies, policy: Policy = {}): Middleware {
  const open = async () => {
    const { default: helmet } = await import("koa-helmet");
    const secure = helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          "default-src": ["'none'"],
          "base-uri": ["'none'"],
          "form-action": ["'none'"],
          "frame-ancestors": ["'none'"],
          ...policy,
        },
      },
      xFrameOptions: { action: "deny" },
      // It is set below, for responses that really go out encrypted.
      strictTransportSecurity: false,
    });
    const insist = helmet.strictTransportSecurity({ maxAge: YEAR_SECS, includeSubDomains: false });
    return { secure, insist };
  };
  let opened: ReturnType<typeof open> | undefined;
  return async (context, next) => {
    // Loaded with the first request, like all that a command never needs.
    opened ??= open();
    const { secure, insist } = await opened;
    context.set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()");
    context.set("Cache-Control", "no-store");
    await secure(context, () => (proxies.isHttps(context.req) ? insist(context, next) : next()));
  };
}

/** Compresses in the encodings that every browser accepts. */
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
