/** What is known of a setting: where its value came from, what it may be, what is wrong with it. */

export type SettingSource = "environment" | ".env" | "stored" | "default";

/** A setting that the store keeps, below the environment and `.env` in rank. */
export interface StoredValue {
  readonly text: string;
  /** The addresses that a secret may be sent to; any for one that was just given. */
  readonly urls?: readonly string[];
}

export type StoredValues = ReadonlyMap<string, StoredValue>;

export interface Setting {
  readonly name: string;
  readonly plugin: string;
  readonly type: string;
  readonly about: string;
  readonly secret: boolean;
  readonly source: SettingSource;
  /** The value in use; undefined where it is not set and has no default. */
  readonly value: string | undefined;
  readonly fallback: string | undefined;
  readonly choices?: readonly string[];
  readonly range?: Range;
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

export interface Problem {
  readonly name: string;
  readonly given: string;
  readonly accepted: string;
  /** Nothing was given at all. */
  readonly isMissing?: boolean;
}
