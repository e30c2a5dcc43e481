/** The gateway's listener as other plugins see it. */
import type Router from "@koa/router";
import type { Context } from "koa";
import type { User } from "../vocabulary/user.ts";

/** Plugins mount routes on it instead of opening a listener. */
export interface Web {
  /** Routes here are reached only with a valid token; errors thrown become the JSON envelope. */
  readonly router: Router;
  /** Who sent this request. */
  user(context: Context): User;
  /** Where people reach the gateway, without a slash at the end. */
  readonly url: string;
}
