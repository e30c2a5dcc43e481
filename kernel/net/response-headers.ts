/** Every listener sends the same headers that keep a browser safe. */
import type { Middleware } from "koa";
import type { Proxies } from "./proxies.ts";

/** The directives of `Content-Security-Policy`; a source that is not named is forbidden. */
export type Policy = Readonly<Record<string, string[]>>;

const YEAR_SECS = 31_536_000;

/** The policy may change while the service runs: the strictest holds until there is one. */
export function secureAnswers(
  proxies: Proxies,
  policyNow: () => Policy | undefined = () => undefined,
): Middleware {
  const open = async (policy: Policy | undefined) => {
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
  let openedFor: Policy | undefined;
  return async (context, next) => {
    const policy = policyNow();
    // Loaded with the first request, like all that a command never needs.
    if (opened === undefined || policy !== openedFor) opened = open(policy);
    openedFor = policy;
    const { secure, insist } = await opened;
    context.set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()");
    context.set("Cache-Control", "no-store");
    await secure(context, () => (proxies.isHttps(context.req) ? insist(context, next) : next()));
  };
}
