/** The trace that a request came with, for what is done for it. Costs nothing where a caller sends none. */
import { AsyncLocalStorage } from "node:async_hooks";

const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

const current = new AsyncLocalStorage<string>();

/** Does the work with the header `traceparent` of the request, where it has a usable one. */
export function withTraceparent<Result>(
  header: string | readonly string[] | undefined,
  work: () => Result,
): Result {
  return typeof header === "string" && TRACEPARENT.test(header) ? current.run(header, work) : work();
}

export const currentTraceparent = (): string | undefined => current.getStore();
