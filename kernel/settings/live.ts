/** Settings that can be changed while the service runs, as plugins know them. */
import type { Env, Setting, Settings } from "./env.ts";

/** Reads the settings of a plugin that may be changed while it runs. */
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
