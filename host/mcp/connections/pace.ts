/** What a server sends costs us time: more than one has to say is read slowly, and the server waits. */

/** In bytes: reading a message takes as long as reading so many of them. */
const MESSAGE_COST = 4096;
const COST_A_MILLI = 4096;

/** How many milliseconds to wait before more is read, after so much was. `burst`: so much may come at once. */
export type Pace = (bytes: number, messages: number) => number;

export function createPace(burst: number): Pace {
  let debt = 0;
  let last = performance.now();
  return (bytes, messages) => {
    const now = performance.now();
    debt = Math.max(0, debt - (now - last) * COST_A_MILLI) + bytes + messages * MESSAGE_COST;
    last = now;
    return Math.max(0, debt - burst) / COST_A_MILLI;
  };
}
