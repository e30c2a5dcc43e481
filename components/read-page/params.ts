/** The params the model can send. */

export interface Params {
  readonly url: string;
  readonly page?: number;
  readonly find?: string;
}

export const SCHEMA = {
  type: "object",
  properties: {
    url: {
      type: "string",
      minLength: 1,
      maxLength: 4096,
      description: "The address of the page, exactly as the user or another page gives it",
    },
    page: {
      type: "integer",
      minimum: 1,
      default: 1,
      description: "Which part of a long text; the output says how many there are",
    },
    find: {
      type: "string",
      minLength: 1,
      maxLength: 200,
      description: "Return only the passages with these words",
    },
  },
  required: ["url"],
  additionalProperties: false,
};
