/** What a test of a model says, and the model servers of this machine. */
import { Type } from "../../../kernel/kit/schema.ts";
import { ModelName } from "../../../kernel/kit/turns.ts";

/** A model server on the machine of the service. */
export const LocalServer = Type.Object(
  { name: Type.String(), baseUrl: Type.String(), models: Type.Array(Type.String()) },
  { $id: "LocalServer" },
);

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
