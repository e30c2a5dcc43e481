/** Tools and MCP servers as the page installs them, sets them up and reads their receipts.  */
import { type Declared, JsonSchema, Time, Type } from "../kernel/kit/schema.ts";
import { ToolInfo, ToolOrigin } from "../kernel/kit/tools.ts";
import { Doubt } from "../kernel/kit/turns.ts";

const { version, description, schema, grants, writes, hints, hosts, params } = ToolInfo.properties;
/** A tool says this of itself and is granted it, installed or not. */
const facts = { version, description, schema, grants, writes, hints, hosts, params };

const proposed = {
  digest: Type.String({ description: "SHA-256 of the component" }),
  ...facts,
  /** How it differs from the installed tool of that name. */
  replaces: Type.Optional(
    Type.Object({
      version: Type.String(),
      added: Type.Array(Type.String(), {
        description: "New grants that the tool did not have until now, in words",
      }),
      removed: Type.Array(Type.String(), { description: "Grants that it no longer has, in words" }),
    }),
  ),
};

/** An upload, as it would be once installed. */
export const ToolProposal = Type.Object(proposed, { $id: "ToolProposal" });
export type ToolProposal = Declared<typeof ToolProposal>;

/** A reference that was looked up, and the tool as it would be once installed. */
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

/** The tightest of a tool's rate limits, for one user. */
export const ToolLimits = Type.Object({
  limit: Type.Integer(),
  windowSecs: Type.Integer({ description: "The window of the limit: 60 for a minute, 3600 for an hour" }),
  remaining: Type.Integer(),
  resetSecs: Type.Integer({ description: "Until there is room again, or one place more" }),
});
export type ToolLimits = Declared<typeof ToolLimits>;

/** Settings and secrets that a tool needs before it works. */
export const ToolSetup = Type.Object(
  {
    secrets: Type.Array(
      Type.Object({
        name: Type.String(),
        isSet: Type.Boolean(),
        isRequired: Type.Boolean({ description: "False: the tool also works without it" }),
        isOwn: Type.Optional(Type.Boolean({ description: "The user's own, not what all users share" })),
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
    settings: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String(),
          description: Type.String(),
          format: Type.Enum(["text", "host", "url", "number", "boolean"]),
          isRequired: Type.Boolean(),
          value: Type.Optional(
            Type.String({
              description:
                "The given value, else the default; left out where it is about one user and the operator gave it",
            }),
          ),
          isDefault: Type.Boolean(),
          isOwn: Type.Optional(Type.Boolean({ description: "The user's own, not what all users share" })),
        }),
        { description: "The operator's choices for this installation; never a secret" },
      ),
    ),
    signsIn: Type.Boolean({ description: "The credential comes from signing in elsewhere" }),
  },
  { $id: "ToolSetup" },
);
export type ToolSetup = Declared<typeof ToolSetup>;

/** A receipt is the host's view of one call. It has no params, no output and no secret. */
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
    parent: Type.Optional(Type.String({ description: "The receipt of the call that this one was made in" })),
    calls: Type.Optional(
      Type.Array(
        Type.Object({
          tool: Type.String(),
          status: Type.Enum(["ok", "error"]),
          code: Type.Optional(Type.String()),
          message: Type.Optional(Type.String()),
          millis: Type.Number(),
          receipt: Type.Optional(Type.String()),
        }),
        { description: "The calls of other tools that it made; those that were refused have no receipt" },
      ),
    ),
    millis: Type.Number(),
    status: Type.Enum(["ok", "error", "unauthenticated", "question"]),
    code: Type.Optional(Type.String()),
    message: Type.Optional(Type.String()),
    requests: Type.Array(
      Type.Object({
        method: Type.String(),
        writes: Type.Optional(Type.Boolean({ description: "The method does more than read" })),
        host: Type.String(),
        bytes: Type.Integer(),
        millis: Type.Number(),
        status: Type.Optional(Type.Integer()),
        error: Type.Optional(Type.String()),
      }),
    ),
    files: Type.Optional(
      Type.Object(
        {
          read: Type.Array(Type.String()),
          written: Type.Array(Type.String()),
          more: Type.Optional(Type.Integer({ description: "How many are left out" })),
        },
        { description: "Paths in the workspace; those written only where that was kept" },
      ),
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

/** The tool that somebody agreed to, so that nothing else can take its place in the meantime. */
export const SeenTool = Type.Object({ tool: Type.String(), digest: Type.String() }, { $id: "SeenTool" });
export type SeenTool = Declared<typeof SeenTool>;

/** A server that an index lists, to be added by its name. */
export const ListedServer = Type.Object(
  {
    name: Type.String(),
    about: Type.String({ description: "One sentence" }),
    page: Type.Optional(Type.String({ description: "Where its makers describe it" })),
    url: Type.Optional(Type.String()),
    signIn: Type.Optional(Type.Enum(["browser", "token", "none"])),
    command: Type.Optional(Type.Array(Type.String())),
    asks: Type.Array(Type.String(), { description: "What a person adds to the command, in this order" }),
    env: Type.Array(Type.String(), { description: "Environment variables that a person gives it" }),
    index: Type.String({ description: "Which index lists it; `shipped` is Postern's own" }),
  },
  { $id: "ListedServer" },
);
export type ListedServer = Declared<typeof ListedServer>;

export const ServerListing = Type.Object(
  {
    date: Type.String({ description: "When the shipped list was made" }),
    servers: Type.Array(ListedServer),
    problems: Type.Array(Type.String(), { description: "Sentences about what could not be read" }),
  },
  { $id: "ServerListing" },
);
export type ServerListing = Declared<typeof ServerListing>;

export const NewMcpServer = Type.Object(
  {
    name: Type.String(),
    url: Type.Optional(Type.String()),
    /** The operator agreed to an address on this machine or the local network. */
    privateHost: Type.Optional(Type.Boolean()),
    command: Type.Optional(Type.Array(Type.String())),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** A bearer token for a server that takes one; it is sealed at once. */
    token: Type.Optional(Type.String()),
    perUser: Type.Optional(Type.Boolean()),
  },
  { $id: "NewMcpServer" },
);
export type NewMcpServer = Declared<typeof NewMcpServer>;

/** A tool of such a server, as the operator sees it. Its texts are a stranger's. */
export const McpTool = Type.Object(
  {
    name: Type.String({ description: "As the agent calls it: <server>_<tool>" }),
    tool: Type.String({ description: "Its name there" }),
    description: Type.String(),
    schema: JsonSchema,
    digest: Type.String({ description: "A digest of everything that the server says about it now" }),
    readOnly: Type.Boolean({ description: "The server says so" }),
    state: Type.Enum(["runs", "asks", "off", "held"], {
      description:
        "runs without asking; asks first; off by the operator's file; held back until the operator has seen what is new",
    }),
    warnings: Type.Array(Type.String(), {
      description: "Parts of its description or schema that read like orders, in words",
    }),
    /** Set while it is held back because it changed: the tool that the operator agreed to, and the server's current one. */
    change: Type.Optional(
      Type.Object({
        before: Type.Optional(Type.Object({ description: Type.String(), schema: JsonSchema })),
        after: Type.Optional(Type.Object({ description: Type.String(), schema: JsonSchema })),
        differences: Type.Array(Type.String(), { description: "Line by line, as a diff shows them" }),
      }),
    ),
  },
  { $id: "McpTool" },
);
export type McpTool = Declared<typeof McpTool>;

export const McpServerInfo = Type.Object(
  {
    name: Type.String(),
    kind: Type.Enum(["http", "command"]),
    address: Type.String({ description: "Its URL, or the command with its arguments; no secret" }),
    status: Type.Enum(["connected", "idle", "connecting", "unreachable", "unauthenticated"]),
    detail: Type.Optional(Type.String({ description: "Why it does not answer, and what to do" })),
    revision: Type.Optional(Type.String({ description: "The revision of the protocol" })),
    signsIn: Type.Boolean({ description: "It wants a sign-in or a credential" }),
    isSignedIn: Type.Boolean({ description: "The user who asks has a sign-in, or all users share one" }),
    perUser: Type.Boolean({ description: "Each user has a credential of their own" }),
    addedAt: Time,
    tools: Type.Array(McpTool),
  },
  { $id: "McpServer" },
);
export type McpServerInfo = Declared<typeof McpServerInfo>;
