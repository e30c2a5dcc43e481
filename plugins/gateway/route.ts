/** The parts that the gateway's own routes are made from. */
import type { ServerResponse } from "node:http";
import type { Proxies } from "../../kernel/kit/http.ts";
import type { Limiter, Use } from "../../kernel/plugin.ts";
import type { Metrics } from "../telemetry/services.ts";
import type { Needed, Wanted } from "./settings.ts";
import type { Authenticator, OriginCheck } from "./sign-in/authenticator.ts";

/** The parts that routes are made from: the services that the gateway uses, its sign-in and its sockets. */
export interface RouteParts extends Use<Needed, Wanted> {
  readonly authenticator: Authenticator;
  readonly isOwnOrigin: OriginCheck;
  readonly proxies: Proxies;
  readonly metrics: Metrics;
  /** What is sent in pieces holds memory until its reader has taken it. */
  readonly bodies: { holdAnswer(caller: string, response: ServerResponse, bytes: number): void };
  /** Each test of a model costs a request to it. */
  readonly testLimit: Limiter;
  /** Called before a turn starts, so that no event of it is missed. */
  follow(user: string): void;
  /** Called when a credential ended, so that its sockets are closed. */
  onRevoked(): Promise<void>;
  usersOnline(): number;
}
