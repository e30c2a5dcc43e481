/** The plugin contract (`postern/plugin`), for trusted code: a name, what it needs, a pure `configure`, one `start`. */
import type { Log } from "./log/log.ts";
import type { Mask } from "./mask/mask.ts";
import type { Env, Settings } from "./settings/env.ts";
import type { LiveReader } from "./settings/live.ts";
import type { Changes, OwnedTables, Sql, SqlValue } from "./vocabulary/store.ts";

export { Fault, type FaultKind, reason } from "./fault.ts";
export type { Log } from "./log/log.ts";
export type { Mask } from "./mask/mask.ts";
export type { JsonSchema } from "./schema/declare.ts";
export type { Env } from "./settings/env.ts";
export type { Gate, Question, Reply } from "./vocabulary/gate.ts";
export type { Job, JobCallback, JobStatus, Task } from "./vocabulary/job.ts";
export type { ModelName } from "./vocabulary/model.ts";
export type { Origin } from "./vocabulary/origin.ts";
export type { Page } from "./vocabulary/page.ts";
export type { Keyed, Limiter, Queries, Sql, Transaction } from "./vocabulary/store.ts";
export type { Attachment, ToolCall, ToolOutcome } from "./vocabulary/tool-call.ts";
export type { ToolInfo } from "./vocabulary/tools.ts";
export type { Failure, TurnEvent, TurnInput, TurnItem, TurnRecord, TurnStatus } from "./vocabulary/turn.ts";
export type { Usage } from "./vocabulary/usage.ts";
export type { Identity, TokenScope, User } from "./vocabulary/user.ts";

/**
 * The services that plugins offer each other. A plugin names one in `needs` or `wants` and gets it by `use`. Its provider
 * declares the type by merging, as a third party does:
 *
 *   declare module "postern/plugin" { interface Services { clock: { now(): Date } } }
 */
export interface Services {
  kernel: Kernel;
}

export type ServiceName = keyof Services & string;

const OFF = Symbol.for("postern.off");

/** What `configure` returns when the plugin should not run, with the reason the operator reads. */
export class Off {
  readonly [OFF] = true;
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }

  static [Symbol.hasInstance](value: unknown): value is Off {
    return typeof value === "object" && value !== null && OFF in value;
  }
}

/** The services a plugin sees: what it needs is there, what it wants may be, anything else is a type error. */
export type Use<Needs extends ServiceName, Wants extends ServiceName> = {
  readonly [Name in Needs]: Services[Name];
} & { readonly [Name in Wants]?: Services[Name] };

export interface StartContext<Config, Needs extends ServiceName, Wants extends ServiceName> {
  readonly config: Config;
  readonly use: Use<Needs, Wants>;
  readonly log: Log;
  /** The service home, which exists and is ours alone. */
  readonly home: string;
  /** Aborted when the kernel gives up waiting for this start. */
  readonly signal: AbortSignal;
  /** Registers the undo of what was just opened. Undos run last-in first-out. */
  onStop(undo: () => void | Promise<void>): void;
  /** Registers work to wait for before an orderly stop: it takes nothing new from then on, and resolves when what runs has ended. */
  onDrain(run: () => void | Promise<void>): void;
  /** A readiness check: it throws while not ready, saying what to do. A text that it returns is only a detail. */
  check(name: string, probe: () => unknown): void;
  /** Shows a detail beside this plugin in the start-up table and the status, for example its address; with `Off`, why it does nothing yet. */
  announce(detail: string | Off): void;
  /** A line for the operator, printed once below the start-up table and never logged. */
  tell(line: string): void;
}

type Provided<Provides extends ServiceName> = [Provides] extends [never]
  ? // biome-ignore lint/suspicious/noConfusingVoidType: a start that provides nothing returns nothing
    void
  : { readonly [Name in Provides]: Services[Name] };

export interface Plugin<
  Config = unknown,
  Needs extends ServiceName = never,
  Wants extends ServiceName = never,
  Provides extends ServiceName = never,
> {
  readonly name: string;
  /** A channel is a way for messages to come in; status pages list channels apart from the rest. A part of another plugin, such as its routes, is not listed. */
  readonly kind?: PluginKind;
  /** True where it takes over the terminal. `postern serve`, or a start without a terminal, keeps it off. */
  readonly ownsTerminal?: boolean;
  /** Shows the first frame on that terminal before any service starts. Returns a function that gives the terminal back. */
  preview?(): Promise<() => void>;
  /** Services this plugin cannot do without: where one is off, this plugin is off too. */
  readonly needs?: readonly Needs[];
  readonly wants?: readonly Wants[];
  readonly provides?: readonly Provides[];
  /**
   * Services that it adds to: it is started wherever these are, also for a command, and before whoever else needs them. It
   * names them in `needs` too, registers with them at its start, and undoes that at its stop.
   */
  readonly extends?: readonly NoInfer<Needs>[];
  /** Pure: reads settings, opens nothing. Problems are collected by `env`, not thrown. */
  configure(env: Env): Config | Off;
  // The return value is checked against `provides`; it must not be inferred from the return type instead.
  start(
    context: StartContext<Config, Needs, Wants>,
  ): NoInfer<Provided<Provides>> | Promise<NoInfer<Provided<Provides>>>;
  // It stands after `configure` in a plugin, which the type of its config is inferred from.
  readonly operations?: Operations<NoInfer<Config>>;
}

/** The parts of a plugin that the command line, the store and `postern doctor` use without starting it. */
export interface Operations<Config = unknown> {
  readonly commands?: readonly PluginCommand[];
  /** Lists the arguments of its commands by kind, for shell completion. */
  readonly names?: NameSources;
  /** What `postern status` shows next to it, as it is now; a running service says it only when it starts. Undefined: what the service said. */
  detail?(look: StoreLook & { readonly home: string }): Promise<string | undefined>;
  /** The tables it keeps in the store, so that a whole store can be copied without starting anything. */
  readonly tables?: () => Promise<readonly OwnedTables[]>;
  /** Reads, like `configure`, those that may be changed while it runs: `start` follows them with the service `settings`. */
  live?(env: Env): unknown;
  /** Read-only: would `start` succeed with this config? Asked by `postern doctor`, with nothing started. */
  diagnose?(context: DiagnoseContext<Config>): Promise<readonly Finding[]>;
}

export interface Named {
  readonly name: string;
  readonly about?: string;
}

/** Reads the store as it is, and nothing where it or the table is not there yet. */
export interface StoreLook {
  rows<Row>(sql: string, ...values: readonly SqlValue[]): Promise<readonly Row[]>;
  keyed<Value>(namespace: string, key: string): Promise<Value | undefined>;
}

/** Names by kind, such as `thread`: read without starting anything. */
type NameSources = Readonly<
  Record<
    string,
    (look: StoreLook & { readonly home: string; readonly user: string }) => Promise<readonly Named[]>
  >
>;

export interface DiagnoseContext<Config> {
  readonly config: Config;
  readonly home: string;
  /** The detail that this plugin announced in the service that runs on this home; empty while it starts, absent if none runs. */
  readonly running?: string | undefined;
  /** Set when nodes share a database. */
  readonly shared?: SharedStore | "unreachable" | undefined;
  readonly stored: StoreLook;
  tables(): Promise<readonly OwnedTables[]>;
}

/** The database that nodes share, for reading. Tables may not be there yet. */
export interface SharedStore {
  readonly sql: Sql;
  has(table: string): Promise<boolean>;
  /** Tells of no changes: whoever looks is gone soon. */
  readonly changes: Changes;
}

type PluginKind = "channel" | "part";

/** The headings of `postern --help`. */
export type CommandGroup = "Talk" | "Tools" | "People" | "Keep" | "Operate" | "Advanced";

/** A command that a plugin adds: `postern <name> …`. Plugins that Postern ships may add to the same one. */
export interface PluginCommand {
  readonly name: string;
  readonly about: string;
  /** Where `--help` lists a command that Postern ships. Third parties' commands have a group of their own. */
  readonly group?: CommandGroup;
  /** Shown by `--help`, for a command that only groups others. */
  readonly example?: string;
  /** It works as the service would: `.env` of the folder it is typed in counts, and every plugin is loaded. */
  readonly startsService?: boolean;
  /** Third parties' plugins are loaded too: it offers what they add. */
  readonly everyPlugin?: boolean;
  /** It works through the service that runs with the home or at `--url`, where there is one; otherwise on the store. */
  readonly joins?: boolean;
  /** Loads its code, which is needed only when the command is typed. */
  load(): Promise<Registration["register"]>;
}

/** Written as a method, so that a plugin which imports commander itself may take commander's own type. */
interface Registration {
  register(command: CommandBuilder, context: CommandContext): void;
}

/** What a command is built with. It is commander's `Command`, which can do more than is promised here. */
export interface CommandBuilder {
  command(nameAndArguments: string): CommandBuilder;
  description(text: string): CommandBuilder;
  argument(name: string, about?: string): CommandBuilder;
  option(flags: string, about?: string, byDefault?: string | boolean | string[]): CommandBuilder;
  requiredOption(flags: string, about?: string): CommandBuilder;
  addHelpText(position: "before" | "after", text: string): CommandBuilder;
  // biome-ignore lint/suspicious/noExplicitAny: arguments come first, then an object of the options
  action(run: (...given: any[]) => void | Promise<void>): CommandBuilder;
}

export interface CommandContext {
  readonly home: string;
  /** The folder the command was typed in. */
  readonly folder: string;
  /** The program in VISUAL, else the one in EDITOR. */
  readonly editor: string;
  /** Returns a plugin's settings as the plugin reads them. Throws if they, or any others read so far, cannot be used. */
  settingsOf<Config>(plugin: string, read: (env: Env) => Config): Config;
  /** The tables of every plugin that Postern ships. */
  tables(): Promise<readonly OwnedTables[]>;
  readonly version: string;
  /** Prints lines that were made visible before; in the person's pager where they are longer than the screen. */
  show(text: string): Promise<void>;
  /** Starts these services and what they need, does the work, and stops them again. */
  with<Name extends ServiceName, Want extends ServiceName = never>(
    services: readonly Name[],
    work: (use: Use<Name, Want>, log: Log) => Promise<void>,
    options?: {
      /** Started if a plugin provides them. */
      readonly wants?: readonly Want[];
      /** The command does not end by itself: what the service would prepare is prepared here too. */
      readonly stays?: boolean;
      /** Another home than the operator's, where nothing is configured. */
      readonly home?: string;
      /** Whose data it is about. A service shows each its own, so another user's are read from the store. */
      readonly user?: string | undefined;
      /** Log lines are not printed. */
      readonly isQuiet?: boolean;
    },
  ): Promise<void>;
}

/** A finding of `postern doctor`, with what to do about it. */
export interface Finding {
  readonly name: string;
  readonly ok: boolean;
  /** It works, but something should be changed. */
  readonly warning?: boolean;
  readonly detail: string;
  /** The repair that `postern doctor --fix` may make. It deletes nothing that a person wrote. */
  readonly fix?: Fix;
}

export interface Fix {
  /** The repair in words, as in "close it to others". */
  readonly about: string;
  /** Why a person has to agree first. */
  readonly asks?: string;
  /** With what a command has: it can start services, such as the store. */
  apply(context: CommandContext): void | Promise<void>;
}

/** A plugin whose type parameters no longer matter: what the kernel handles. */
export interface AnyPlugin
  extends Omit<Plugin<unknown, ServiceName, ServiceName, ServiceName>, "start" | "operations"> {
  // biome-ignore lint/suspicious/noExplicitAny: the kernel passes exactly what `needs` and `wants` name
  start(context: any): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly operations?: Operations<any>;
}

export function definePlugin<
  Config,
  const Needs extends ServiceName = never,
  const Wants extends ServiceName = never,
  const Provides extends ServiceName = never,
>(plugin: Plugin<Config, Needs, Wants, Provides>): Plugin<Config, Needs, Wants, Provides> {
  return plugin;
}

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
  /** The environment and `.env`, and the settings that stored rows may change: for the plugin that keeps those rows. */
  readonly settings: { readonly given: Settings; readonly readers: readonly LiveReader[] };
  /** For the plugin that owns the terminal. */
  readonly resume: Resume | undefined;
  plugins(): readonly PluginState[];
  /** The tables of every plugin, also of those that are off: what they kept is still there. */
  tables(): Promise<readonly OwnedTables[]>;
  /** The lines that plugins print for the operator, for the plugin that owns the terminal. */
  lines(): readonly string[];
  /** False while plugins are starting: one that starts later may still add what a caller asks for. */
  readonly isStarted: boolean;
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
  now(): number;
  /** Calls the work whenever so much time has passed, without keeping the process up. Returns a function that stops it. */
  every(millis: number, work: () => void): () => void;
}

export interface PluginState {
  readonly name: string;
  readonly kind?: PluginKind;
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
