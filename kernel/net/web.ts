/** The gateway's listener as other plugins see it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type Router from "@koa/router";
import type { Context } from "koa";
import type { TSchema } from "typebox";
import type { WebSocket } from "ws";
import type { User } from "../vocabulary/user.ts";

/** A path of OpenAPI's as the router writes it: /api/threads/:id */
export const routerPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** A route as the OpenAPI document describes it. Schemas are declarations of ours, or any JSON Schema. */
export interface RouteDescription {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  /** Written as in OpenAPI: /api/threads/{id} */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  /** A signed-in user by default. */
  readonly audience?: "anyone" | "operator";
  /** An object whose properties are the parameters. */
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** An object whose properties are the fields of a form, in place of a JSON body. */
  readonly form?: TSchema;
  readonly status?: number;
  /** A media type where the response is not JSON; absent where it has no body. */
  readonly answer?: TSchema | string;
  /** The data of each event, where the response can also be a stream of server-sent events. */
  readonly events?: TSchema;
  /** Statuses besides the usual refusals, with their meaning, and their body where it is not an error envelope. */
  readonly refusals?: Readonly<Record<number, string | RefusalDescription | undefined>>;
}

export interface RefusalDescription {
  readonly means: string;
  readonly answer: TSchema | string;
}

/** A WebSocket that a plugin takes, at a path without parameters. */
export interface MountedSocket extends Pick<RouteDescription, "path" | "summary" | "tag"> {
  /** A larger message closes the socket with 1009. */
  readonly largestMessage: number;
  /**
   * Somebody who has signed in opened one. The gateway pings it, and closes it when it stops (1001) or when the sign-in
   * ends (1008).
   */
  accept(socket: WebSocket, user: User): void;
}

/** A protocol with rules of its own for bodies and errors, at one path: it gets every method, and the body unread. */
export interface MountedProtocol {
  readonly path: string;
  /** Shown to people who are asked to sign in. */
  readonly title: string;
  /** Its address as people outside know it, where that is not the listener's: what an identity provider's tokens are meant for. */
  readonly resource?: string;
  /** Responds to the request. An exception becomes an error response, if nothing has been sent yet. */
  handle(request: IncomingMessage, response: ServerResponse, user: User): Promise<void>;
}

/** Plugins mount routes on it instead of opening a listener. */
export interface Web {
  /** Routes here are reached only with a valid token; errors thrown become the JSON envelope. */
  readonly router: Router;
  /** Adds what was mounted to the OpenAPI document. */
  describe(routes: readonly RouteDescription[]): void;
  /** Takes WebSockets, under the same sign-in as routes and only from pages that may use this gateway. */
  mountSocket(socket: MountedSocket): void;
  /**
   * Takes a protocol. The sign-in is a bearer token, never a cookie, and a page of another origin is refused. Where an
   * identity provider is configured, the metadata document that clients find it by is there too (RFC 9728). A stream ends with
   * the sign-in that opened it.
   */
  mountProtocol(protocol: MountedProtocol): void;
  user(context: Context): User;
  /** The public address of the gateway, without a slash at the end. */
  readonly url: string;
}
