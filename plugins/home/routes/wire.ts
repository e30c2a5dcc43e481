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
