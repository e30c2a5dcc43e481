/** The context of the operator's commands: the command line, and the store with nothing started, which the composition root hands over. */
import { InvalidArgumentError } from "commander";
import type { Env, SharedStore, StoreLook } from "../../plugin.ts";
import type { Settings } from "../../settings/env.ts";
import type { LiveReader } from "../../settings/live.ts";
import type { OwnedTables } from "../../vocabulary/store.ts";
import type { CommandLine } from "../program.ts";

export interface StoreAccess {
  /** Opens the store that the settings name for reading. Nothing is made or changed, whatever is there. */
  look(env: Env, home: string): Promise<OpenLook>;
  /** Puts what is stored of settings below what was given. */
  peekSettings(given: Settings, home: string, readers: readonly LiveReader[]): Promise<PeekedSettings>;
  /** Says whether the store is ready for another version of Postern. */
  examineForUpgrade(env: Env, home: string, tables: readonly OwnedTables[]): Promise<readonly UpgradeCheck[]>;
}

interface OpenLook extends StoreLook {
  /** The database that nodes share; undefined where they share none. */
  readonly shared: SharedStore | "unreachable" | undefined;
  close(): Promise<void>;
}

interface PeekedSettings {
  /** The environment and `.env` over what is stored. Nothing of it has been read yet. */
  readonly settings: Settings;
  /** The reasons why stored values do not count, by name. */
  readonly ignored: ReadonlyMap<string, string>;
}

export interface UpgradeCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface OperatorContext extends CommandLine {
  store(): Promise<StoreAccess>;
}

/** Reads a number of lines or seconds. */
export function parseCount(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("Use a whole number up to 999999.");
  return Number(text);
}
