/** The one rule for tokens and secrets that a person chose: any length is accepted, a short one is warned about. */
import type { Finding } from "../plugin.ts";

const MIN_STRONG_LENGTH = 16;

/** The warning for a secret that can be guessed; undefined for one that is long enough. */
function weaknessOf(name: string, secret: string): string | undefined {
  const { length } = secret;
  if (length >= MIN_STRONG_LENGTH) return undefined;
  const count = length === 1 ? "1 character" : `${length} characters`;
  return `${name} has only ${count}: use at least ${MIN_STRONG_LENGTH}, or it can be guessed`;
}

/** The warnings for those that are set, as the start-up table shows them behind an address. */
export function showWeaknesses(secrets: Readonly<Record<string, string | undefined>>): string {
  const found = Object.entries(secrets).flatMap(([name, secret]) =>
    secret === undefined ? [] : (weaknessOf(name, secret) ?? []),
  );
  return found.length === 0 ? "" : ` (${found.join("; ")})`;
}

/** A short secret works, so `postern doctor` warns about it and does not fail. */
export function examineSecret(name: string, variable: string, secret: string): Finding {
  const weakness = weaknessOf(variable, secret);
  return weakness === undefined
    ? { name, ok: true, detail: "set" }
    : { name, ok: true, warning: true, detail: weakness };
}
