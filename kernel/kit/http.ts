/** Answering HTTP: listening, reading bodies, routes with their checks, rate limits in headers, faults as responses. */

export { currentTraceparent, withTraceparent } from "../log/trace-context.ts";
export { assertSimple, parseJson, parseLargeJson, readText } from "../net/body.ts";
export { createOpenCount, tooManyConnections } from "../net/connections.ts";
export { readCookie } from "../net/cookies.ts";
export { createFormReader, type FormReader } from "../net/form.ts";
export {
  type ChannelRules,
  ErrorEnvelope,
  type HttpFault,
  httpFault,
  kindOf,
  statusFault,
} from "../net/http-fault.ts";
export { type Listener, listen } from "../net/listen.ts";
export { pageFields, pageQuery } from "../net/pages.ts";
export { createProxies, type Proxies, readTrustedProxies } from "../net/proxies.ts";
export { applyLimit, limitWords, RATE_LIMIT_EXCEEDED, RATE_LIMIT_HEADERS } from "../net/rate-limit.ts";
export { type Policy, secureAnswers } from "../net/response-headers.ts";
export {
  assertTool,
  invalidFault,
  isOpenToScoped,
  type MountRules,
  missingFault,
  orRefuse,
  type Route,
  type RouteCaller,
  routesOf,
  SCOPED_TOKEN,
} from "../net/route.ts";
export {
  type Asked,
  type Form,
  mountRoutes,
  type RouteDefinition,
  type RouteDescription,
} from "../net/routes.ts";
