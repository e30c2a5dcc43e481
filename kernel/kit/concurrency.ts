/** Work that must not run at the same time, and work that runs by itself. */

export { createBackground } from "../background.ts";
export { createMutex, oneAtATime } from "../mutex.ts";
