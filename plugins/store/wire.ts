/** A setting as the API shows it. */
import { type Declared, nullable, Type } from "../../kernel/kit/schema.ts";

export const ChangeableSetting = Type.Object(
  {
    name: Type.String(),
    about: Type.String(),
    type: Type.Enum(["string", "boolean", "integer", "number", "choice", "list", "url"]),
    choices: Type.Optional(Type.Array(Type.String())),
    minimum: Type.Optional(Type.Number()),
    maximum: Type.Optional(Type.Number()),
    isSecret: Type.Boolean(),
    isSet: Type.Boolean({ description: "Something other than the default gave it a value" }),
    value: nullable(Type.String({ description: "The value in use; null for a secret" })),
    hint: Type.Optional(Type.String({ description: "The end of a long stored secret, to tell it by" })),
    source: Type.Enum(["environment", ".env", "stored", "default"]),
    isFixed: Type.Boolean({
      description: "The environment or .env sets it, so that it can only be changed there",
    }),
    default: nullable(Type.String()),
    problem: Type.Optional(
      Type.String({ description: "Why a stored value is not used: the value in use is another" }),
    ),
  },
  { $id: "ChangeableSetting" },
);
export type ChangeableSetting = Declared<typeof ChangeableSetting>;
