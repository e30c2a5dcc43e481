/** Says who has to act on a fault, which also decides how each channel responds. */
export type FaultKind =
  | "config" // the operator: all problems are listed, exit code 78
  | "invalid" // the caller: the request is wrong
  | "unauthenticated" // the caller: who are you
  | "forbidden" // the caller: not yours to do
  | "missing" // the caller: there is no such thing
  | "limited" // the caller, later
  | "unavailable" // the operator, while the caller waits
  | "turn"; // the turn ended in error; the thread goes on

export interface FaultDetails {
  /** The request field, variable or file at fault. */
  readonly param?: string;
  /** The time after which another try makes sense, for `limited` and `unavailable`. */
  readonly retryAfterSecs?: number;
  /** The words of a command are wrong, whatever they are about: the command line exits with 2. */
  readonly usage?: boolean;
  /** Shown to callers over the network instead, if the message and the param are for the operator only. */
  readonly callersMessage?: string;
  /** Each thing that is wrong, where there may be several. */
  readonly problems?: readonly FaultProblem[];
  readonly cause?: unknown;
}

export interface FaultProblem {
  readonly param: string;
  readonly message: string;
}

const BRAND = Symbol.for("postern.fault");

/** The one expected error. Anything else that is thrown is a bug. */
export class Fault extends Error {
  readonly [BRAND] = true;
  readonly kind: FaultKind;
  readonly code: string;
  readonly param: string | undefined;
  readonly retryAfterSecs: number | undefined;
  readonly usage: boolean;
  readonly callersMessage: string | undefined;
  readonly problems: readonly FaultProblem[] | undefined;

  constructor(kind: FaultKind, code: string, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "Fault";
    this.kind = kind;
    this.code = code;
    this.param = details.param;
    this.retryAfterSecs = details.retryAfterSecs;
    this.usage = details.usage ?? false;
    this.callersMessage = details.callersMessage;
    this.problems = details.problems;
  }

  // A brand instead of a prototype: a plugin may have been built against another copy of this file.
  static override [Symbol.hasInstance](value: unknown): value is Fault {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

/** Words for a caught value, for a message that the operator reads. */
export function reason(error: unknown): string {
  if (error instanceof AggregateError && error.message === "" && error.errors.length > 0) {
    return reason(error.errors[0]);
  }
  return error instanceof Error ? error.message || error.name : String(error);
}
