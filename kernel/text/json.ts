/** Reads JSON that somebody else wrote, where a text that is no JSON is nothing to complain about. */

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object in the text; an empty one where there is none. */
export function tryRecord(text: string): Record<string, unknown> {
  const value = tryJson(text);
  return isRecord(value) ? value : {};
}
