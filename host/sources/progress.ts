/** Lines about a download, no more than one a second and none for what is quick. */
const EVERY_MILLIS = 1000;

export function progressOf(
  what: string,
  size: number | undefined,
  progress: (line: string) => void,
): (count: number) => void {
  let last = performance.now();
  return (count) => {
    const now = performance.now();
    if (now - last < EVERY_MILLIS) return;
    last = now;
    progress(`${what}: ${megabytes(count)}${size === undefined ? "" : ` of ${megabytes(size)}`} MB`);
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
