/** A server did not do what it was asked. The message is a sentence for people and models. */

export type FailureKind =
  /** It does not answer, or answers nonsense. */
  | "unreachable"
  /** It wants a credential, or another one. */
  | "unauthenticated"
  | "timeout"
  /** It answered with an error of the protocol: it is there. */
  | "refused";

export class ConnectionFailed extends Error {
  readonly kind: FailureKind;
  /** Its process is over. */
  readonly hasEnded: boolean;

  constructor(
    kind: FailureKind,
    message: string,
    options: { readonly cause?: unknown; readonly hasEnded?: boolean } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.hasEnded = options.hasEnded ?? false;
  }
}
