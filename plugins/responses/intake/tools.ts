/** The tools of a request: what is declared of each, and what is kept of it. */
import type { Declared } from "../../../kernel/vocabulary/wire/form.ts";
import { Type } from "../../../kernel/vocabulary/wire/type.ts";
import type { FunctionTool } from "../answer/wire.ts";
import { maybe } from "./request.ts";

export const TOOL = { refusal: "must be an object with type, name and parameters" };

export const ToolName = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,64}$",
  refusal: "must be 1 to 64 letters, digits, underscores or hyphens",
});

export const GIVEN_FUNCTION = {
  name: ToolName,
  description: maybe(Type.String({ refusal: "must be a text" })),
  parameters: maybe(Type.Record(Type.String(), Type.Unknown(), { refusal: "must be a JSON Schema object" })),
  strict: maybe(Type.Boolean({ refusal: "must be true or false" })),
};

export const GivenFunction = Type.Object(GIVEN_FUNCTION, TOOL);
type GivenFunction = Declared<typeof GivenFunction>;

export const functionTool = ({ name, description, parameters, strict }: GivenFunction): FunctionTool => ({
  type: "function",
  name,
  description: description ?? null,
  parameters: parameters ?? null,
  strict: strict ?? null,
});
