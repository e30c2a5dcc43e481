/** Skills as the API shows them. */
import { Time, Type } from "../../../kernel/kit/schema.ts";

export const Skill = Type.Object(
  {
    name: Type.String(),
    description: Type.String({ description: "In its own words" }),
    source: Type.Enum(["own", "added"], {
      description: "`own`: the operator wrote it. The words of an added one are a stranger's",
    }),
    from: Type.Optional(Type.String({ description: "Operators: where an added one came from" })),
    agreedAt: Type.Optional({ ...Time, description: "When the operator agreed to an added one" }),
    allowedTools: Type.Optional(
      Type.Array(Type.String(), { description: "A turn that follows it keeps only these tools" }),
    ),
    requiredTools: Type.Array(Type.String()),
    scripts: Type.Array(Type.String(), { description: "Scripts that can be run in the sandbox" }),
  },
  { $id: "Skill" },
);

export const SkillProblem = Type.Object(
  { folder: Type.String(), why: Type.String() },
  { $id: "SkillProblem" },
);

const ShownFile = Type.Object(
  {
    path: Type.String(),
    lines: Type.Array(Type.String(), { description: "The first ones" }),
    count: Type.Integer({ description: "How many lines there are" }),
  },
  { $id: "ShownFile" },
);

export const SkillProposal = Type.Object(
  {
    name: Type.String(),
    description: Type.String({ description: "In its own words" }),
    orders: Type.Array(Type.String(), { description: "What reads like orders in its description" }),
    from: Type.String({ description: "Where it comes from, or what the archive was called" }),
    digest: Type.String({ description: "Of its files: agreed to with this" }),
    signature: Type.Optional(Type.String({ description: "Who signed it; absent for an uploaded archive" })),
    signed: Type.Boolean({ description: "False: agreeing takes `allow_unsigned`, unless it was uploaded" }),
    license: Type.Optional(Type.String()),
    compatibility: Type.Optional(Type.String({ description: "What it says that it needs" })),
    allowedTools: Type.Optional(
      Type.Array(Type.String(), { description: "A turn that follows it keeps only these tools" }),
    ),
    unknownTools: Type.Array(Type.String(), { description: "Those of them that are not here" }),
    requiredTools: Type.Array(Type.String()),
    scripts: Type.Array(ShownFile, { description: "The first 20 scripts that can run in the sandbox" }),
    moreScripts: Type.Integer({ description: "How many others there are" }),
    notRunnable: Type.Array(Type.String(), { description: "Scripts that can only be read" }),
    files: Type.Integer(),
    bytes: Type.Integer(),
    replaces: Type.Optional(
      Type.Object(
        {
          isSame: Type.Boolean({ description: "True: there is nothing to update" }),
          signer: Type.Optional(
            Type.String({
              description:
                "Who signed the old one, if another signed this one: agreeing takes `allow_signer_change`",
            }),
          ),
          differences: Type.Array(ShownFile, {
            description: "What changed in its SKILL.md and its scripts, each line with its sign",
          }),
          added: Type.Array(Type.String()),
          removed: Type.Array(Type.String()),
          changed: Type.Array(Type.String()),
        },
        { description: "The skill of that name from the same place" },
      ),
    ),
  },
  { $id: "SkillProposal" },
);
