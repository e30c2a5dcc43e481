/** The gateway's listener as other plugins see it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TSchema } from "typebox";
import type { WebSocket } from "ws";
import type { MountRules, Policy, Route, RouteDescription } from "../../kernel/kit/http.ts";
import type { User } from "../../kernel/kit/people.ts";
import type { Limiter } from "../../kernel/plugin.ts";

/** A WebSocket that a plugin takes, at a path without parameters. What a user may open and send is counted for each tag. */
export interface MountedSocket extends Pick<RouteDescription, "path" | "summary" | "tag" | "query"> {
  /** True when tokens with a scope may open it: what it does stays within the scope. */
  readonly scoped?: boolean;
  /** A larger message closes the socket with 1009. */
  readonly largestMessage: number;
  /** Bytes that a user may send within a minute, pings included; 256 MiB if absent. */
  readonly bytesPerMinute?: number;
  /** What it sends, for the OpenAPI document. */
  readonly frames?: TSchema;
  /** A user who has signed in opened one. The gateway closes it when it stops (1001) or when the sign-in ends (1008). */
  accept(socket: WebSocket, user: User, query: URLSearchParams): void;
}

/** A protocol with rules of its own for bodies and errors, at one path: it gets every method, and the body unread. */
export interface MountedProtocol {
  readonly path: string;
  /** Shown to people who are asked to sign in. */
  readonly title: string;
  /** Its address as people outside know it, where that is not the listener's: what an identity provider's tokens are meant for. */
  readonly resource?: string;
  /** True when tokens with a scope may use it: what it does stays within the scope. */
  readonly scoped?: boolean;
  /** Responds to the request. An exception becomes an error response, if nothing has been sent yet. */
  handle(request: IncomingMessage, response: ServerResponse, user: User): Promise<void>;
}

/** Files for browsers, at "/" and without a token. They are read once, and never change while the service runs. */
export interface MountedSite {
  /** What its pages may load. It is sent with every answer of the gateway. */
  readonly policy: Policy;
  /** Its files by name, without folders. `index.html` is at "/". Called with the first request for one, and again after a failure. */
  files(): Promise<ReadonlyMap<string, SiteFile>>;
}

export interface SiteFile {
  readonly contents: Uint8Array;
  /** Sent with this file instead of the gateway's own of the same names. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Plugins mount routes on it instead of opening a listener. Each method returns the undo, for `onStop`. */
export interface Web {
  /**
   * Adds routes, made by `routesOf`, to the listener and to the OpenAPI document. A route is reached only with a valid token
   * unless its audience is `anyone`, and with a scoped token only if it says `scoped`; errors thrown become the JSON envelope.
   */
  mount<One extends Route>(routes: readonly One[], rules?: MountRules<One>): () => void;
  /** Takes WebSockets, under the same sign-in as routes and only from pages that may use this gateway. */
  mountSocket(socket: MountedSocket): () => void;
  /** Counts each request that writes something, of routes and protocols, and refuses those beyond the limit. There is only one. */
  limitWrites(limiter: Limiter): () => void;
  /** Closes the sockets and streams whose sign-in has ended, here at once and soon on the other nodes. Call it when one was revoked. */
  endRevoked(): Promise<void>;
  /** How many users have a socket of this tag open. */
  usersOf(tag: string): number;
  /**
   * Takes a protocol. The sign-in is a bearer token, never a cookie, and a page of another origin is refused. Where an
   * identity provider is configured, the metadata document that clients find it by is there too (RFC 9728). A stream ends with
   * the sign-in that opened it.
   */
  mountProtocol(protocol: MountedProtocol): () => void;
  /** Takes the files that browsers get at "/". There is only one site. */
  mountSite(site: MountedSite): () => void;
  /** The address by which the sender of a request reaches the gateway, without a slash at the end. */
  originOf(request: IncomingMessage): string;
  /** The public address of the gateway, without a slash at the end. */
  readonly url: string;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    web: Web;
  }
}
