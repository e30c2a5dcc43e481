/** A model tried out, with settings as they are or as they might be. */

import type { Declared } from "../schema/declare.ts";
import { Type } from "../schema/type.ts";
import type { SettingValues } from "../settings/live.ts";
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

export interface ModelCheck {
  /** Makes one tiny real request. These values are not stored; a fault where they could not be. */
  test(values: SettingValues): Promise<ModelTest>;
  /** The names that its server offers; none where it does not say. */
  list(values: SettingValues): Promise<readonly string[]>;
}
