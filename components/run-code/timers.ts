/** The code's timers, counted: code that waits without one waits for ever. */
const { setTimeout: start, clearTimeout: stop } = globalThis;

const waiting = new Map<number, ReturnType<typeof start>>();
let last = 0;

function begin(isRepeated: boolean, callback: unknown, millis: unknown, args: readonly unknown[]): number {
  const id = ++last;
  const wait = () => start(fire, Math.max(0, Number(millis) || 0));
  const fire = () => {
    if (!waiting.delete(id)) return;
    if (isRepeated) waiting.set(id, wait());
    if (typeof callback === "function") callback(...args);
  };
  waiting.set(id, wait());
  return id;
}

function end(id: unknown): void {
  const timer = waiting.get(id as number);
  waiting.delete(id as number);
  if (timer !== undefined) stop(timer);
}

Object.assign(globalThis, {
  setTimeout: (callback: unknown, millis?: unknown, ...args: unknown[]) =>
    begin(false, callback, millis, args),
  setInterval: (callback: unknown, millis?: unknown, ...args: unknown[]) =>
    begin(true, callback, millis, args),
  clearTimeout: end,
  clearInterval: end,
});

export const countTimers = (): number => waiting.size;

export function stopTimers(): void {
  for (const id of [...waiting.keys()]) end(id);
}

/** Until everything that can go on without a timer has gone on. */
export const tick = (): Promise<void> => new Promise((resolve) => void start(() => resolve(), 0));
