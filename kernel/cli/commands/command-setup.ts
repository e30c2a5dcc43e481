/** The context of our own commands. */
import type { Command } from "commander";
import type { AnyPlugin } from "../../plugin.ts";
import type { Session, SessionOptions } from "../service/session.ts";
import type { StoreAccess } from "../store-access.ts";

export interface Ways {
  readonly version: string;
  open(options?: SessionOptions): Promise<Session>;
  /** Starts the service, with the terminal UI in front or without. */
  /** The commands as they are for these words. */
  programFor(words: readonly string[]): Promise<Command>;
  start(inFront: boolean, port?: number): Promise<void>;
  shippedPlugins(): Promise<readonly AnyPlugin[]>;
  store(): Promise<StoreAccess>;
  allPlugins(session: Session): Promise<readonly AnyPlugin[]>;
}
