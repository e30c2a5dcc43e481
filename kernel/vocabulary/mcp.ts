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
