/** Why a server did not do what it was asked: from what the SDK, the broker or the system threw to a sentence. */
import {
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { visibleLine } from "../../../kernel/kit.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";
import { ConnectionFailed } from "./failure.ts";

const LONGEST = 500;

/** `ended`: how its process did, if it has. `last`: what the connection complained about before. */
export function explain(error: unknown, ended: string | undefined, last?: unknown): ConnectionFailed {
  if (error instanceof ConnectionFailed) return error;
  if (ended !== undefined)
    return new ConnectionFailed("unreachable", `The command is over: ${ended}.`, {
      cause: error,
      hasEnded: true,
    });
  const told = [error, last, ...causesOf(error)];
  const unauthenticated = told.find(isUnauthenticated);
  if (unauthenticated !== undefined)
    return new ConnectionFailed("unauthenticated", sentence(unauthenticated), { cause: error });
  if (error instanceof ProtocolError)
    return new ConnectionFailed("refused", `It answered with an error: ${clip(error.message)}`, {
      cause: error,
    });
  if (isTimeout(error))
    return new ConnectionFailed("timeout", "It did not answer in time.", { cause: error });
  return new ConnectionFailed("unreachable", sentence(isVague(error) ? (last ?? error) : error), {
    cause: error,
  });
}

function isUnauthenticated(error: unknown): boolean {
  return (
    (error instanceof Fault && error.kind === "unauthenticated") ||
    error instanceof UnauthorizedError ||
    (error instanceof SdkHttpError && (error.status === 401 || error.status === 403)) ||
    (error as { name?: unknown } | undefined)?.name === "InsufficientScopeError"
  );
}

function isTimeout(error: unknown): boolean {
  return (
    (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) ||
    (error as { name?: unknown } | undefined)?.name === "TimeoutError"
  );
}

/** That the connection is closed says less than why. */
function isVague(error: unknown): boolean {
  return error === undefined || (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed);
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  let next = (error as { cause?: unknown } | undefined)?.cause;
  for (let count = 0; next !== undefined && count < 5; count++) {
    causes.push(next);
    next = (next as { cause?: unknown } | undefined)?.cause;
  }
  return causes;
}

function sentence(error: unknown): string {
  if (error instanceof SdkHttpError && error.status !== undefined)
    return `It answered with the HTTP status ${error.status}.`;
  // The SDK reads what nests with calls that nest.
  if (error instanceof RangeError) return "It answered with something that nests too deeply.";
  const cause = causesOf(error).at(-1);
  const text = error instanceof Fault || !(cause instanceof Error) ? reason(error) : reason(cause);
  return clip(text) || "It closed the connection.";
}

/** Others' words may be in it. */
function clip(text: string): string {
  const line = visibleLine(text.replace(/\s+/g, " ").trim());
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1)}…`.toWellFormed();
}
