/** How long something took, for what must not be taken for shorter than it was. */

export interface Clock {
  elapsed(): number;
}

/** Milliseconds since now. Of two clocks the faster: one stands still while the machine sleeps, the other is set. */
export function startClock(): Clock {
  const steady = performance.now();
  const wall = Date.now();
  return { elapsed: () => Math.ceil(Math.max(performance.now() - steady, Date.now() - wall)) };
}
