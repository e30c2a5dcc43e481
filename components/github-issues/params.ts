/** The params the model can send. */

export type Params = { readonly repository: string } & (
  | { readonly action: "list"; readonly state: "open" | "closed" | "all"; readonly limit: number }
  | {
      readonly action: "create";
      readonly title: string;
      readonly body: string;
      readonly labels: readonly string[];
    }
  | { readonly action: "comment"; readonly number: number; readonly body: string }
);

const REPOSITORY = {
  type: "string",
  pattern: "^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$",
  description: "Owner and name of the repository, for example octocat/hello-world",
};

const ACTIONS = {
  list: {
    about: "List the newest issues of a repository",
    properties: {
      state: {
        type: "string",
        enum: ["open", "closed", "all"],
        default: "open",
        description: "Which issues to list",
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: 50,
        default: 10,
        description: "Maximum number of issues",
      },
    },
    required: [],
  },
  create: {
    about: "Open a new issue",
    properties: {
      title: { type: "string", minLength: 1, maxLength: 256, description: "The issue's title" },
      body: { type: "string", maxLength: 65_536, description: "The issue's text, in Markdown" },
      labels: {
        type: "array",
        items: { type: "string" },
        maxItems: 20,
        description: "Names of existing labels in the repository",
      },
    },
    required: ["title"],
  },
  comment: {
    about: "Comment on an issue",
    properties: {
      number: { type: "integer", minimum: 1, description: "The issue's number" },
      body: { type: "string", minLength: 1, maxLength: 65_536, description: "The comment, in Markdown" },
    },
    required: ["number", "body"],
  },
};

export const SCHEMA = {
  type: "object",
  oneOf: Object.entries(ACTIONS).map(([action, { about, properties, required }]) => ({
    type: "object",
    description: about,
    properties: { action: { const: action }, repository: REPOSITORY, ...properties },
    required: ["action", "repository", ...required],
    additionalProperties: false,
  })),
};

/** The host has already checked the params against the schema; this adds the defaults. */
export function readParams(text: string): Params {
  const given: { readonly action?: unknown } | null = JSON.parse(text);
  if (typeof given?.action !== "string" || !Object.hasOwn(ACTIONS, given.action))
    throw new Error(`'action' must be one of ${Object.keys(ACTIONS).join(", ")}`);
  return { state: "open", limit: 10, body: "", labels: [], ...given } as unknown as Params;
}
