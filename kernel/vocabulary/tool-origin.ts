/** Where an installed tool came from, as it was verified then. */
import type { Declared } from "../schema/declare.ts";
import { Type } from "../schema/type.ts";

export const ToolOrigin = Type.Object(
  {
    kind: Type.Enum(["folder", "file", "https", "oci", "npm"]),
    reference: Type.String({ description: "What `postern tool install` was given, in its canonical form" }),
    digest: Type.String({
      description:
        "Of what was fetched: the registry's manifest, the package's tarball (as npm's integrity), or the component",
    }),
    listed: Type.Optional(Type.String({ description: "The name under which an index lists it" })),
    tag: Type.Optional(Type.String({ description: "The registry's tag it was found under" })),
    version: Type.Optional(Type.String({ description: "The package's version" })),
    ownCapabilities: Type.Optional(
      Type.Boolean({ description: "What it may do was given by the person who installed it" }),
    ),
    signer: Type.Optional(Type.String({ description: "Whose signature was verified, in words" })),
  },
  { $id: "ToolOrigin" },
);
export type ToolOrigin = Declared<typeof ToolOrigin>;
