/** Checks the form of what a tool's process says of its calls. Strangers' code runs there, and may have taken it over. */
import type { FromProcess } from "./protocol.ts";

type OfCall = Extract<FromProcess, { readonly call: number }>;

const LEVELS = new Set(["trace", "debug", "info", "warn", "error"]);
const MAX_LOG = 4096;
const MAX_TEXT = 1 << 20;
const MAX_NAMES = 100;

/** Throws where the message is not one that our own code in there would send. */
export function assertWellFormed(message: OfCall): void {
  if (!isWellFormed(message))
    throw new TypeError(`a message of type ${JSON.stringify(message.type)} is malformed`);
}

function isWellFormed(message: OfCall): boolean {
  switch (message.type) {
    case "log":
      return LEVELS.has(message.entry.level) && isText(message.entry.message, MAX_LOG);
    case "http": {
      const { method, url, headersJson, timeoutMs } = message.head;
      const isTimed = timeoutMs === undefined || timeoutMs === null || typeof timeoutMs === "number";
      return isTimed && [method, url, headersJson].every((text) => isText(text, MAX_TEXT));
    }
    case "ended":
      return (
        isCount(message.droppedLogs) &&
        isCount(message.memoryPeakBytes) &&
        message.secretsAsked.length <= MAX_NAMES &&
        message.secretsAsked.every((name) => isText(name, MAX_LOG)) &&
        Object.values(message.outcome).every((value) => typeof value === "boolean" || isText(value, MAX_TEXT))
      );
    case "lost":
      return isText(message.message, MAX_TEXT);
    default:
      return false;
  }
}

function isText(value: unknown, longest: number): boolean {
  return typeof value === "string" && value.length <= longest;
}

function isCount(value: unknown): boolean {
  return typeof value === "number" && value >= 0;
}
