/** What the tool host offers: calls for the agent, management for the page. */

import type { CallTrace } from "../../log/telemetry.ts";
import type { Figures, FiguresQuery } from "../models/usage.ts";
import { JsonSchema } from "../turn.ts";
import type { Declared } from "../wire/form.ts";
import { Time, Type } from "../wire/type.ts";
import type { Attachment, ToolCall, ToolOutcome } from "./call.ts";
import { Doubt, type Question, type Reply } from "./gate.ts";
import { ToolOrigin } from "./origin.ts";

export const ToolHints = Type.Object(
  {
    readOnly: Type.Boolean(),
    destructive: Type.Boolean({ description: "It may change or delete what is there already" }),
    openWorld: Type.Boolean({ description: "It talks to systems outside" }),
  },
  { $id: "ToolHints" },
);
export type ToolHints = Declared<typeof ToolHints>;

const facts = {
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
    ...facts,
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
  /** For the receipt. */
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

/** A component with its capabilities file, as it was handed over. */
export interface ToolUpload {
  readonly component: Uint8Array;
  /** The text of the capabilities file. */
  readonly capabilities: string;
}

const proposed = {
  digest: Type.String({ description: "SHA-256 of the component" }),
  ...facts,
  /** How it differs from the installed tool of that name. */
  replaces: Type.Optional(
    Type.Object({
      version: Type.String(),
      added: Type.Array(Type.String(), { description: "What the tool could not do until now, in words" }),
      removed: Type.Array(Type.String(), { description: "What it no longer may, in words" }),
    }),
  ),
};

/** What an upload would be once installed. */
export const ToolProposal = Type.Object(proposed, { $id: "ToolProposal" });
export type ToolProposal = Declared<typeof ToolProposal>;

/** What is at a reference, and what it would be once installed. */
export const ToolFinding = Type.Object(
  {
    name: Type.String(),
    ...proposed,
    origin: ToolOrigin,
    signature: Type.String({ description: "Who signed it, in words" }),
    signed: Type.Boolean({ description: "By a signer that a trust rule names" }),
  },
  { $id: "ToolFinding" },
);
export type ToolFinding = Declared<typeof ToolFinding>;

/** A tool that an index lists, to be installed by its name. */
export const ListedTool = Type.Object(
  {
    name: Type.String(),
    about: Type.String({ description: "One sentence" }),
    from: Type.String({ description: "Where it is" }),
    index: Type.String({ description: "Which index lists it; `shipped` is Postern's own" }),
    digest: Type.Optional(Type.String()),
    signer: Type.Optional(Type.String()),
  },
  { $id: "ListedTool" },
);
export type ListedTool = Declared<typeof ListedTool>;

/** What the person was shown, and agreed to. */
export interface FoundTool {
  readonly name: string;
  /** Of its origin: what is there now has to be the same. */
  readonly digest: string;
  readonly replace: boolean;
  /** Agreed to what nobody named has signed. */
  readonly allowUnsigned: boolean;
}

/** The tightest of a tool's rate limits, for one user. */
export const ToolLimits = Type.Object({
  limit: Type.Integer(),
  windowSecs: Type.Integer({ description: "What the limit is for: 60 for a minute, 3600 for an hour" }),
  remaining: Type.Integer(),
  resetSecs: Type.Integer({ description: "Until there is room again, or one place more" }),
});
export type ToolLimits = Declared<typeof ToolLimits>;

/** What a tool has to be given before it works. */
export const ToolSetup = Type.Object(
  {
    secrets: Type.Array(
      Type.Object({
        name: Type.String(),
        isSet: Type.Boolean(),
        question: Type.String({ description: "What to ask a person for" }),
        shares: Type.Optional(
          Type.String({
            description: "There is one, given to another tool, version or host: what to agree to",
          }),
        ),
        instructions: Type.Optional(Type.String({ description: "How and where to get it" })),
        url: Type.Optional(Type.String()),
      }),
    ),
    signsIn: Type.Boolean({ description: "The credential comes from signing in elsewhere" }),
  },
  { $id: "ToolSetup" },
);
export type ToolSetup = Declared<typeof ToolSetup>;

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

/** Where a browser brings the answer to a sign-in: whether the same one began it. A user's own is finished in no other. */
export interface SignInBrowser {
  readonly began: boolean;
}

/**
 * What the `tool` commands do, for a page: the caller is the operator, who has been shown the grants. A fault
 * of kind `invalid` says why something is refused, `missing` that there is no such tool.
 */
export interface ToolAdmin {
  /** Every check of an install under this name; changes nothing. */
  examine(name: string, upload: ToolUpload): Promise<ToolProposal>;
  /** Without `replace` a name that is taken is refused. */
  install(name: string, upload: ToolUpload, options: { readonly replace: boolean }): Promise<ToolInfo>;
  /** What the indexes list, the best match first; `problems` are sentences about what could not be read. */
  search?(words: string): Promise<{
    readonly tools: readonly ListedTool[];
    readonly problems: readonly string[];
  }>;
  /** Gets what a reference names (https://…, oci://…, npm:…, a name) and does every check of an install; changes nothing. */
  find?(reference: string, name?: string): Promise<ToolFinding>;
  /** Installs what was found, if it is still the same. */
  installFound?(reference: string, found: FoundTool): Promise<ToolInfo>;
  /** False where there is no such tool. */
  remove(name: string): Promise<boolean>;
  /** Switches a tool on again that was switched off because it kept crashing; false where it was on. */
  enable(name: string): Promise<boolean>;
  /** What this user has left of the tool's rate limit; nothing where the tool may not use the network. */
  limits(name: string, user: string): Promise<ToolLimits | undefined>;
  setup(name: string): Promise<ToolSetup>;
  /** `warning`: a sentence for the person, where the value is stored but too short to be hidden. */
  setSecret(name: string, secret: string, value: string): Promise<{ readonly warning?: string }>;
  /** Agrees to what `setup` asked in `shares`. */
  shareSecret(name: string, secret: string): Promise<void>;
  /** Where to send the browser; it comes back to `redirectUri`, which then goes to `finishSignIn`. */
  beginSignIn(name: string, redirectUri: string): Promise<{ readonly url: string }>;
  /** The tool that is signed in now; a fault where the address answers no sign-in that was begun here. */
  finishSignIn(redirected: URL, browser?: SignInBrowser): Promise<{ readonly tool: string }>;
  /** Newest first. */
  receipts(query: {
    readonly tool?: string;
    readonly user?: string;
    readonly limit?: number;
  }): Promise<readonly ToolReceipt[]>;
  receipt(id: string): Promise<ToolReceipt | undefined>;
  /** Calls of tools, counted from the receipts that are kept. */
  usage(query: FiguresQuery): Promise<Figures>;
}
