/** The one table from what went wrong to what an HTTP caller reads. A channel's exceptions are data that it passes in. */
import { Fault, type FaultKind } from "../fault.ts";
import type { Declared } from "../schema/declare.ts";
import { Type } from "../schema/type.ts";

export const ErrorEnvelope = Type.Object(
  {
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      param: Type.Union([Type.String({ description: "The field at fault" }), Type.Null()]),
      code: Type.String(),
      problems: Type.Optional(
        Type.Array(Type.Object({ param: Type.String(), message: Type.String() }), {
          description: "Each field at fault, where there may be several",
        }),
      ),
    }),
  },
  { $id: "Error" },
);
export type ErrorEnvelope = Declared<typeof ErrorEnvelope>;

export interface HttpFault {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorEnvelope;
  /** True for an unexpected error: it belongs in the log, and none of its words in the response. */
  readonly isBug: boolean;
}

type Row = readonly [status: number, type: string];

export interface ChannelRules {
  readonly largestBody: string;
  /** Rows that differ from the table's, each with its reason where it is written. */
  readonly exceptions?: Readonly<Partial<Record<FaultKind, Row>>>;
  /** Statuses of single codes of an invalid request. */
  readonly codes?: Readonly<Record<string, number>>;
}

const KINDS: Readonly<Record<FaultKind, Row>> = {
  config: [500, "server_error"],
  invalid: [400, "invalid_request_error"],
  unauthenticated: [401, "authentication_error"],
  forbidden: [403, "permission_error"],
  missing: [404, "not_found_error"],
  limited: [429, "rate_limit_error"],
  unavailable: [503, "server_error"],
  turn: [200, "turn_error"],
};

type Words = readonly [code: string, message: string];

const UNREADABLE: Words = [
  "bad_request",
  "The request could not be read: its body is not what its type says.",
];
/** The web framework and the body parser set a status without our words; these are the words. */
const STATUSES: Readonly<Record<number, Words>> = {
  400: UNREADABLE,
  404: ["not_found", "There is nothing at this address."],
  405: ["method_not_allowed", "This address does not take this method."],
  413: ["body_too_large", "The request body is too large."],
  415: ["unsupported_media_type", "This address does not take a body of this content type."],
  426: ["upgrade_required", "This address takes WebSocket connections only."],
};
const CODES = new Map(Object.entries(STATUSES).map(([status, [code]]) => [code, Number(status)]));

const BUG: HttpFault = {
  status: 500,
  headers: {},
  body: envelope("server_error", "internal_error", "Internal error. The server log has the details."),
  isBug: true,
};

// Clients retry a 429 on their own, at once where it does not say when.
const SOON_SECS = 1;

export function httpFault(error: unknown, rules: ChannelRules): HttpFault {
  if (error instanceof Fault) return faultAnswer(error, rules);
  const { status } = Object(error) as { readonly status?: unknown };
  return (typeof status === "number" ? statusFault(status, rules) : undefined) ?? BUG;
}

/** Undefined for a status that is nobody's mistake, or ours. */
export function statusFault(status: number, { largestBody }: ChannelRules): HttpFault | undefined {
  if (status < 400 || status >= 500) return undefined;
  const [code, words] = STATUSES[status] ?? UNREADABLE;
  const message = status === 413 ? `The request body is larger than ${largestBody}.` : words;
  const [, type] = KINDS[status === 404 ? "missing" : "invalid"];
  return { status, headers: {}, body: envelope(type, code, message), isBug: false };
}

function faultAnswer(fault: Fault, rules: ChannelRules): HttpFault {
  const { kind, code, callersMessage, retryAfterSecs, problems } = fault;
  const message = callersMessage ?? fault.message;
  const param = callersMessage === undefined ? fault.param : undefined;
  const [usual, type] = rules.exceptions?.[kind] ?? KINDS[kind];
  const status = (kind === "invalid" ? (rules.codes?.[code] ?? CODES.get(code)) : undefined) ?? usual;
  const wait = retryAfterSecs ?? (status === 429 ? SOON_SECS : undefined);
  return {
    status,
    headers: wait === undefined ? {} : { "retry-after": String(wait) },
    body: envelope(type, code, message, param, problems),
    isBug: false,
  };
}

/** The way back: what a fault that was answered with this status is. */
export function kindOf(status: number): FaultKind {
  const kinds = (Object.keys(KINDS) as FaultKind[]).filter((kind) => kind !== "config");
  return kinds.find((kind) => KINDS[kind][0] === status) ?? (status < 500 ? "invalid" : "unavailable");
}

function envelope(
  type: string,
  code: string,
  message: string,
  param: string | null = null,
  problems?: Fault["problems"],
): ErrorEnvelope {
  return { error: { message, type, param, code, ...(problems && { problems }) } };
}
