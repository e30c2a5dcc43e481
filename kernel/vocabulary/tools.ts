/** Tools as the agent and channels see them: what they are and what they may do. */

import { createHash } from "node:crypto";
import { type Declared, hidden, JsonSchema } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";
import { COUNTED, DEEDS, type Deed } from "./call-summary.ts";

/** The source of an installed tool, as it was verified when it was installed. */
export const ToolOrigin = Type.Object(
  {
    kind: Type.Enum(["folder", "file", "https", "oci", "npm"]),
    reference: Type.String({ description: "What `postern tool install` was given, in its canonical form" }),
    digest: Type.String({
      description:
        "The digest of what was fetched: the registry's manifest, the package's tarball (as npm's integrity), or the component",
    }),
    listed: Type.Optional(Type.String({ description: "The name under which an index lists it" })),
    tag: Type.Optional(Type.String({ description: "The registry's tag it was found under" })),
    version: Type.Optional(Type.String({ description: "The package's version" })),
    ownCapabilities: Type.Optional(
      Type.Boolean({ description: "The person who installed it gave its capabilities" }),
    ),
    signer: Type.Optional(Type.String({ description: "Whose signature was verified, in words" })),
  },
  { $id: "ToolOrigin" },
);
export type ToolOrigin = Declared<typeof ToolOrigin>;

const ToolHints = Type.Object(
  {
    readOnly: Type.Boolean(),
    destructive: Type.Boolean({ description: "It may change or delete what is there already" }),
    openWorld: Type.Boolean({ description: "It talks to systems outside" }),
  },
  { $id: "ToolHints" },
);

export const ToolInfo = Type.Object(
  {
    name: Type.String(),
    version: Type.String(),
    description: Type.String(),
    schema: JsonSchema,
    grants: Type.Array(Type.String(), { description: "What the capabilities file grants, in words" }),
    writes: Type.Boolean({ description: "A grant goes beyond GET, HEAD, PROPFIND and REPORT" }),
    hints: Type.Optional(ToolHints),
    hosts: Type.Optional(
      Type.Array(Type.String(), {
        description: "The hosts it may reach, as its capabilities file names them",
      }),
    ),
    params: Type.Optional(
      Type.Record(Type.String(), Type.Enum(["destination", "content", "selector"]), {
        description: "The roles of its params, if its capabilities file says so",
      }),
    ),
    agentTools: Type.Optional(
      Type.Array(Type.String(), { description: "The tools that it may call itself; `*` for all" }),
    ),
    fingerprint: Type.Optional(
      Type.String({
        description:
          "Another after every install and whenever its grants change: what was approved is this one",
      }),
    ),
    origin: Type.Optional(ToolOrigin),
    /** How its calls read, if it is one of ours. */
    words: Type.Optional(
      hidden(
        Type.Object({
          did: Type.Enum(Object.keys(DEEDS) as Deed[]),
          object: Type.Optional(Type.Array(Type.String())),
          counts: Type.Optional(Type.Array(Type.Enum([...COUNTED]))),
        }),
      ),
    ),
    switchedOff: Type.Optional(
      Type.Object(
        { at: Time, why: Type.String({ description: "A sentence" }) },
        { description: "It kept crashing: calls are refused until the operator switches it on again" },
      ),
    ),
    needs: Type.Optional(
      Type.Object(
        {
          names: Type.Array(Type.String(), { description: "Settings and secrets" }),
          why: Type.String({ description: "A sentence, with what to do" }),
          isOffered: Type.Boolean({
            description:
              "The agent has the tool all the same: a call stops and asks for the credential. False: it does not have it",
          }),
        },
        { description: "What is missing before it can work, for all users or for the one who asks" },
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
            description: "Parts of its description or schema that read like orders, in words",
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

/** Tells a tool from another of the same name: the provider's own fingerprint, else a digest of everything it declares. */
export function fingerprintOf(tool: ToolInfo): string {
  const { version, description, schema, grants, writes } = tool;
  const facts = JSON.stringify([version, description, schema, grants, writes]);
  return tool.fingerprint ?? createHash("sha256").update(facts).digest("hex");
}
