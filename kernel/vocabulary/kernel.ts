/** What the kernel offers every plugin, and what it says about them. */
import type { Settings } from "../settings/env.ts";
import type { LiveReader } from "../settings/live.ts";
import type { OwnedTables } from "./store.ts";

/** The thread that the person who starts Postern wants to go on with: its id or the beginning of it, or the newest. */
export type Resume = { readonly thread: string } | "newest";

export interface Kernel {
  readonly version: string;
  readonly startedAt: Date;
  /** The time that what is planned goes by. */
  readonly clock: Clock;
  /** Known secret values, hidden in every log line; add each one you learn. */
  readonly mask: Mask;
  /**
   * True for the service itself, which holds the home's claim. False for a command that borrows a few
   * services beside it: such a process works no queue, recovers nothing and sweeps nothing.
   */
  readonly serving: boolean;
  /** True also for a command that stays, such as `postern mcp`: what it offers is prepared as the service would. */
  readonly stays: boolean;
  /** What the environment and `.env` say, and what of it may be changed by rows: for the plugin that keeps them. */
  readonly settings: { readonly given: Settings; readonly readers: readonly LiveReader[] };
  /** For the plugin that owns the terminal. */
  readonly resume: Resume | undefined;
  plugins(): readonly PluginState[];
  /** The tables of every plugin, also of those that are off: what they kept is still there. */
  tables(): Promise<readonly OwnedTables[]>;
  /** What plugins print for the operator, for the plugin that owns the terminal. */
  lines(): readonly string[];
  /** Runs every named check. */
  readiness(): Promise<readonly CheckResult[]>;
  /** The newest log lines as JSON texts, oldest first, secrets hidden. */
  recentLog(): readonly string[];
  /** The number of the newest of them. */
  countLog(): number;
  /** Asks the process to stop everything in order and end, as a signal would. */
  shutdown(): void;
}

/** A test has one of its own, and turns it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls the work whenever so much time has passed, without keeping the process up. Answers how to stop. */
  every(millis: number, work: () => void): () => void;
}

export interface PluginState {
  readonly name: string;
  readonly kind?: "channel";
  readonly on: boolean;
  /** An address when on, the reason when off. */
  readonly detail: string;
}

export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly millis: number;
}

/** Values are hidden as they are and as URLs, JSON, HTML, hex and base64 write them. */
export interface Mask {
  /** Values under six characters are ignored: they cannot be hidden without blanking out ordinary words. */
  add(secret: string): void;
  /** The text with every known secret value replaced. */
  hide(text: string): string;
  /** True where the text holds a known secret value. */
  finds(text: string): boolean;
  /** Hides in a text that comes in pieces what `hide` would hide in the whole, however it is cut. */
  stream(): HidingStream;
  /** How many values are known: what was hidden before it changed has to be hidden again. */
  readonly size: number;
}

export interface HidingStream {
  /** What may be shown now. Text that may become a known value is held until more text has decided. */
  push(text: string): string;
  /** The rest, at the end of the text. */
  end(): string;
}
