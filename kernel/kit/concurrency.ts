/** Work that must not run at the same time, work that runs by itself, and work so long that others need a turn in between. */

export { createBackground } from "../background.ts";
export { createMutex, oneAtATime } from "../mutex.ts";
export { digestText, giveWay, isLong, LONG_LENGTH } from "../text/long.ts";
export { createTextThreads, type TextThreads } from "../text/text-threads.ts";
export { createThreads } from "../threads.ts";
