/** Settings that can be changed while the service runs, as plugins know them. */
import { type Declared, nullable } from "../schema/declare.ts";
import { Type } from "../schema/type.ts";
import type { Env, Settings } from "./env.ts";
import type { Setting } from "./setting.ts";

/** A part of a plugin's settings that follows what is stored, on every node. */
export interface Live<Config> {
  /** As it is now. The same object while nothing of it has changed, and the last one where the store is away. */
  current(): Promise<Config>;
  /** As it was when somebody last looked. */
  last(): Config;
  /** Returns a function that stops it. */
  onChange(listener: (config: Config) => void): () => void;
}

/** By name; null goes back to the default. */
export type SettingValues = Readonly<Record<string, string | null>>;

export const ChangeableSetting = Type.Object(
  {
    name: Type.String(),
    about: Type.String(),
    type: Type.Union([
      Type.Literal("string"),
      Type.Literal("boolean"),
      Type.Literal("integer"),
      Type.Literal("number"),
      Type.Literal("choice"),
      Type.Literal("list"),
      Type.Literal("url"),
    ]),
    choices: Type.Optional(Type.Array(Type.String())),
    minimum: Type.Optional(Type.Number()),
    maximum: Type.Optional(Type.Number()),
    isSecret: Type.Boolean(),
    isSet: Type.Boolean({ description: "Something other than the default gave it a value" }),
    value: nullable(Type.String({ description: "The value in use; null for a secret" })),
    hint: Type.Optional(Type.String({ description: "The end of a long stored secret, to tell it by" })),
    source: Type.Union([
      Type.Literal("environment"),
      Type.Literal(".env"),
      Type.Literal("stored"),
      Type.Literal("default"),
    ]),
    isFixed: Type.Boolean({
      description: "The environment or .env sets it, so that it can only be changed there",
    }),
    default: nullable(Type.String()),
    problem: Type.Optional(
      Type.String({ description: "Why a stored value is not used: the value in use is another" }),
    ),
  },
  { $id: "ChangeableSetting" },
);
export type ChangeableSetting = Declared<typeof ChangeableSetting>;

export interface StoredSettings {
  /** What this reader reads may be changed, and nothing else. The plugin names it in `live` too. */
  live<Config>(plugin: string, read: (env: Env) => Config): Promise<Live<Config>>;
  list(): Promise<readonly ChangeableSetting[]>;
  /** All of them or none. A fault names each that cannot be changed, and why. */
  change(values: SettingValues, who: string): Promise<void>;
  /** What would be read with these values, which are not stored. Refuses what `change` would. */
  preview<Config>(plugin: string, read: (env: Env) => Config, values: SettingValues): Promise<Config>;
}

/** What of a plugin's settings may be changed while it runs. */
export interface LiveReader {
  readonly plugin: string;
  read(env: Env): unknown;
}

/** Includes plugins that are off. */
export function liveReaders(
  plugins: readonly { readonly name: string; readonly operations?: { live?(env: Env): unknown } }[],
): readonly LiveReader[] {
  return plugins.flatMap(({ name, operations: { live } = {} }) =>
    live === undefined ? [] : [{ plugin: name, read: live }],
  );
}

/** The names that a store may hold, with what they may be. Whatever else it holds has no effect. */
export function changeable(given: Settings, readers: readonly LiveReader[]): ReadonlyMap<string, Setting> {
  return new Map(readAll(given.over(new Map()), readers).declared.map((setting) => [setting.name, setting]));
}

export function readAll(settings: Settings, readers: readonly LiveReader[]): Settings {
  for (const { plugin, read } of readers) read(settings.for(plugin));
  return settings;
}
