/** Bytes of a text as it is, of anything else as compact JSON; undefined for what nests too deeply to be written. */
export function bytesOf(value: unknown): number | undefined {
  try {
    return Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
