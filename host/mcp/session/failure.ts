/** Why a server did not do what it was asked, and a wait that ends with its signal. */

type FailureKind =
  /** It does not answer, or its answer makes no sense. */
  | "unreachable"
  /** It wants a credential, or another one. */
  | "unauthenticated"
  | "timeout"
  /** It answered with an error of the protocol, so it is there. */
  | "refused";

export class SessionFailed extends Error {
  readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}

/** For work that does not always give up when its signal aborts, as that of the SDK. Rejects with the signal's reason. */
export function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason as Error);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  work.catch(() => {});
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", abort));
}
