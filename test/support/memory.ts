/** What is still held once the garbage is collected. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

export function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** The heap, and the buffers beside it. */
export function heldBytes(): number {
  return heapUsed() + process.memoryUsage().external;
}
