/** A model tried out, with settings as they are or as they might be. */
import type { Declared } from "../schema/declare.ts";
import { Type } from "../schema/type.ts";
import { ModelName } from "./model.ts";

export const ModelTest = Type.Object(
  {
    ok: Type.Boolean(),
    model: ModelName,
    message: Type.String({ description: "What came back, or what is wrong, in words" }),
    code: Type.Optional(
      Type.String({
        description: "Such as `model_unauthorized`, `model_refused`, `model_unreachable`, `model_limited`",
      }),
    ),
    answer: Type.Optional(Type.String({ description: "The beginning of what the model said" })),
    millis: Type.Integer(),
    models: Type.Array(Type.String(), { description: "The names that its server offers, if it says so" }),
  },
  { $id: "ModelTest" },
);
export type ModelTest = Declared<typeof ModelTest>;
