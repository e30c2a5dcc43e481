/** What the answers of every listener have in common: headers that keep a browser safe, and compression. */
import type { Middleware } from "koa";
import type { Proxies } from "./proxies.ts";

/** By directive, as in `Content-Security-Policy`; what is not named is forbidden. */
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
      // Only where the answer really goes out encrypted: see below.
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

/** In the encodings that every browser takes; its defaults are a middling quality, right for text made for one reader. */
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
