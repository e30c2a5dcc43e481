/** Limits how fast the messages of one server are read, because each costs us time: the server waits in its socket or pipe. */

/** Reading a message takes about as long as reading this many bytes. */
const MESSAGE_COST = 4096;
const COST_PER_MS = 4096;

/** Returns how many milliseconds to wait before the next read. */
export type ReadThrottle = (bytes: number, messages: number) => number;

/** `burst` bytes may come at once. */
export function createReadThrottle(burst: number): ReadThrottle {
  let debt = 0;
  let last = performance.now();
  return (bytes, messages) => {
    const now = performance.now();
    debt = Math.max(0, debt - (now - last) * COST_PER_MS) + bytes + messages * MESSAGE_COST;
    last = now;
    return Math.max(0, debt - burst) / COST_PER_MS;
  };
}
