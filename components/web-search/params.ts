/** The params the model can send. */

export interface Params {
  readonly query: string;
  readonly limit?: number;
}

export const DEFAULT_LIMIT = 6;

export const SCHEMA = {
  type: "object",
  properties: {
    query: {
      type: "string",
      minLength: 1,
      maxLength: 400,
      description: "What to search for, in a few words",
    },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: 20,
      default: DEFAULT_LIMIT,
      description: "Maximum number of results",
    },
  },
  required: ["query"],
  additionalProperties: false,
};
