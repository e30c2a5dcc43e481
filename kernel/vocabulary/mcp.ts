/** MCP servers of others, whose tools the agent may use: what the page and the command line show and change. */

import type { Declared } from "../schema/declare.ts";
import { JsonSchema } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";

/** A tool of such a server, as the operator sees it. Its texts are a stranger's. */
export const McpTool = Type.Object(
  {
    name: Type.String({ description: "As the agent calls it: <server>_<tool>" }),
    tool: Type.String({ description: "Its name there" }),
    description: Type.String(),
    schema: JsonSchema,
    digest: Type.String({ description: "Of all that the server says about it now" }),
    readOnly: Type.Boolean({ description: "The server says so" }),
    state: Type.Enum(["runs", "asks", "off", "held"], {
      description:
        "runs without asking; asks first; off by the operator's file; held back until the operator has seen what is new",
    }),
    warnings: Type.Array(Type.String(), {
      description: "What in its description or schema reads like orders, in words",
    }),
    /** Where it is held back because it changed: what the operator agreed to, and what the server says now. */
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
    revision: Type.Optional(Type.String({ description: "Of the protocol" })),
    signsIn: Type.Boolean({ description: "It wants a sign-in or a credential" }),
    isSignedIn: Type.Boolean({ description: "The user who asks has a sign-in, or all users share one" }),
    perUser: Type.Boolean({ description: "Each user has a credential of their own" }),
    addedAt: Time,
    tools: Type.Array(McpTool),
  },
  { $id: "McpServer" },
);
export type McpServerInfo = Declared<typeof McpServerInfo>;

/** What somebody agrees to, so that nothing else can take its place in the meantime. */
export const SeenTool = Type.Object({ tool: Type.String(), digest: Type.String() }, { $id: "SeenTool" });
export type SeenTool = Declared<typeof SeenTool>;

/** What `postern mcp add` is given. */
export const NewMcpServer = Type.Object(
  {
    name: Type.String(),
    url: Type.Optional(Type.String()),
    command: Type.Optional(Type.Array(Type.String())),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    /** A bearer token for a server that takes one; it is sealed at once. */
    token: Type.Optional(Type.String()),
    perUser: Type.Optional(Type.Boolean()),
  },
  { $id: "NewMcpServer" },
);
export type NewMcpServer = Declared<typeof NewMcpServer>;

/**
 * The operator's view of them; a user may list them and sign in. A fault of kind `invalid` says why something is refused,
 * `missing` that there is no such server, `unavailable` that it does not answer.
 */
export interface McpServers {
  /** `user`: whose sign-in counts. */
  list(user: string): Promise<readonly McpServerInfo[]>;
  find(name: string, user: string): Promise<McpServerInfo | undefined>;
  /** Connects and reads its tools. `agree`: its read-only tools may run without asking. */
  add(
    server: NewMcpServer,
    options: { readonly user: string; readonly agree: boolean; readonly signal?: AbortSignal },
  ): Promise<McpServerInfo>;
  remove(name: string): Promise<boolean>;
  /** The text of its file, as `add` wrote it or the operator left it. */
  file(name: string): Promise<string>;
  /** Every mistake at once, as one fault. */
  edit(name: string, file: string): Promise<McpServerInfo>;
  /** The operator has seen these tools: each with the digest of what was shown. One that has changed since is refused. */
  agree(name: string, seen: readonly SeenTool[]): Promise<McpServerInfo>;
  /** Connects anew and reads its tools. */
  test(name: string, user: string, signal?: AbortSignal): Promise<McpServerInfo>;
  /** Where to send the browser; it comes back to `redirectUri`, which then goes to `toolAdmin.finishSignIn`. */
  beginSignIn(name: string, user: string, redirectUri: string): Promise<{ readonly url: string }>;
  /** For a server that takes a token and has no sign-in. */
  setToken(name: string, user: string, token: string): Promise<void>;
  signOut(name: string, user: string): Promise<boolean>;
}
