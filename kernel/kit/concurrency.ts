/** Work that must not run at the same time. */

export { createMutex, oneAtATime } from "../mutex.ts";
