/** Tools as the agent and channels see them: what they are, how they are called, and the receipt of a call. */

import type { Declared } from "../schema/declare.ts";
import { JsonSchema } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";
import { Doubt, type Question, type Reply } from "./gate.ts";
import type { CallTrace } from "./telemetry.ts";
import type { Attachment, ToolCall, ToolOutcome } from "./tool-call.ts";
import { ToolOrigin } from "./tool-origin.ts";

const ToolHints = Type.Object(
  {
    readOnly: Type.Boolean(),
    destructive: Type.Boolean({ description: "It may change or delete what is there already" }),
    openWorld: Type.Boolean({ description: "It talks to systems outside" }),
  },
  { $id: "ToolHints" },
);
export type ToolHints = Declared<typeof ToolHints>;

/** What a tool says of itself and is granted, installed or not. */
export const toolFacts = {
  version: Type.String(),
  description: Type.String(),
  /** JSON Schema of `params`. */
  schema: JsonSchema,
  grants: Type.Array(Type.String(), { description: "What the capabilities file grants, in words" }),
  writes: Type.Boolean({ description: "A grant goes beyond GET and HEAD" }),
  hints: Type.Optional(ToolHints),
  hosts: Type.Optional(
    Type.Array(Type.String(), { description: "The hosts it may reach, as its capabilities file names them" }),
  ),
  params: Type.Optional(
    Type.Record(Type.String(), Type.Enum(["destination", "content", "selector"]), {
      description: "What its params are for, where its capabilities file says so",
    }),
  ),
};

export const ToolInfo = Type.Object(
  {
    name: Type.String(),
    ...toolFacts,
    fingerprint: Type.Optional(
      Type.String({
        description:
          "Another after every install and whenever its grants change: what was approved is this one",
      }),
    ),
    origin: Type.Optional(ToolOrigin),
    switchedOff: Type.Optional(
      Type.Object(
        { at: Time, why: Type.String({ description: "A sentence" }) },
        { description: "It kept crashing: calls are refused until the operator switches it on again" },
      ),
    ),
    asks: Type.Optional(
      Type.Boolean({
        description:
          "Whether it asks before it runs, unless a rule says otherwise; by default, where it writes",
      }),
    ),
    server: Type.Optional(
      Type.Object(
        {
          name: Type.String(),
          tool: Type.String({ description: "The tool's name there" }),
          warnings: Type.Array(Type.String(), {
            description: "What in its description or schema reads like orders, in words",
          }),
        },
        {
          description: "It belongs to an MCP server: its name, description and schema are a stranger's words",
        },
      ),
    ),
  },
  { $id: "Tool" },
);
export type ToolInfo = Declared<typeof ToolInfo>;

/** What an outcome brings besides text: images, and what the tool said as data. */
export interface Extras {
  /** Each goes into the thread as an attachment of the call's result. */
  readonly attached?: readonly { readonly attachment: Attachment; readonly data: Uint8Array }[];
  readonly structured?: unknown;
}

/** The call is not over: a person is asked first. It becomes a gate, and is never stored as an outcome. */
export interface QuestionOutcome {
  readonly status: "question";
  readonly server: string;
  readonly questions: readonly Question[];
  /** Opaque. With it the call can be gone on with once. */
  readonly resume: string;
}

export type CallOutcome = (ToolOutcome & Extras) | QuestionOutcome;

export interface CallOptions {
  readonly user: string;
  /** The name of the channel, for the receipt. */
  readonly channel?: string;
  readonly signal?: AbortSignal;
  readonly ruling?: NonNullable<ToolReceipt["ruling"]>;
  readonly trace?: CallTrace;
}

export interface Tools {
  /** Those that are switched off too. */
  list(): Promise<readonly ToolInfo[]>;
  /**
   * Never throws for what a tool did; `signal` cancels the call. Whoever provides the tools checks the params against
   * their schemas: nobody does so before.
   */
  call(call: ToolCall, options: CallOptions): Promise<CallOutcome>;
  /** Goes on with a call that asked something. */
  resume?(
    call: ToolCall,
    resume: string,
    replies: readonly Reply[],
    options: CallOptions,
  ): Promise<CallOutcome>;
  /** The outcome of a call that would be refused before the tool runs; asked before a person is asked to approve it. */
  refusal?(call: ToolCall): Promise<ToolOutcome | undefined>;
  /**
   * What is wrong with a value, in words, where a stranger's schema describes it; the schema is only ever used in a sandbox.
   * Throws the fault `invalid_json_schema` where it cannot be used, or takes too long.
   */
  checkJson?(
    schema: JsonSchema,
    value: unknown,
    options: { readonly signal: AbortSignal },
  ): Promise<readonly string[]>;
}

/** What the host saw of one call. No params, no output, no secret. */
export const ToolReceipt = Type.Object(
  {
    id: Type.String(),
    at: Time,
    tool: Type.String(),
    user: Type.String(),
    channel: Type.Optional(Type.String()),
    ruling: Type.Optional(
      Type.Object(
        {
          verdict: Type.Enum(["clear", "approved", "trusted", "off"]),
          doubts: Type.Array(Doubt),
        },
        { description: "Where the values of the call came from; the values themselves are left out" },
      ),
    ),
    millis: Type.Number(),
    status: Type.Enum(["ok", "error", "unauthenticated", "question"]),
    code: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    requests: Type.Array(
      Type.Object({
        method: Type.String(),
        host: Type.String(),
        bytes: Type.Integer(),
        millis: Type.Number(),
        status: Type.Optional(Type.Integer()),
        error: Type.Optional(Type.String()),
      }),
    ),
    credentials: Type.Array(Type.String(), {
      description: "Names of the credentials that were put into requests",
    }),
    memoryPeak: Type.Integer(),
    logs: Type.Array(Type.Object({ level: Type.String(), message: Type.String() })),
  },
  { $id: "Receipt" },
);
export type ToolReceipt = Declared<typeof ToolReceipt>;
