/** The parts that the gateway's own routes are made from. */
import type { Proxies } from "../../kernel/kit/http.ts";
import type { Use } from "../../kernel/plugin.ts";
import type { Metrics } from "../telemetry/services.ts";
import type { Needed, Wanted } from "./settings.ts";
import type { Authenticator, OriginCheck } from "./sign-in/authenticator.ts";

/** The parts that routes are made from: the services that the gateway uses and its sign-in. */
export interface RouteParts extends Use<Needed, Wanted> {
  readonly authenticator: Authenticator;
  readonly isOwnOrigin: OriginCheck;
  readonly proxies: Proxies;
  readonly metrics: Metrics;
  /** Called when a credential ended, so that its sockets are closed. */
  onRevoked(): Promise<void>;
}
