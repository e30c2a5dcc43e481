/** The shapes that more than one answer has. */
import type { JsonSchema } from "../../kernel/plugin.ts";

export const USER: JsonSchema = {
  type: "object",
  required: ["id", "role"],
  properties: { id: { type: "string" }, role: { enum: ["operator", "user"] } },
};
