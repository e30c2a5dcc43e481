/** Bytes as people read them. */
export function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} byte${bytes === 1 ? "" : "s"}`;
  return bytes < 1_000_000
    ? `${Math.round(bytes / 1000)} kB`
    : `${Number((bytes / 1_000_000).toFixed(1))} MB`;
}
