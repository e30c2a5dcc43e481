/** What a token may use: how it is asked for, kept, and said in words. */
import type { TSchema } from "typebox";
import { type Declared, Type } from "../../../../kernel/kit.ts";
import { Fault, type ModelName, type TokenScope, type User } from "../../../../kernel/plugin.ts";

/** Without the token it belongs to. Whatever is absent is not limited. */
export type Scope = Omit<TokenScope, "token">;

const MOST_TOOLS = 100;
const MOST_MODELS = 50;

const maybe = <Schema extends TSchema>(schema: Schema) => Type.Optional(Type.Union([schema, Type.Null()]));

const Tool = Type.String({
  pattern: "^[A-Za-z0-9_-]{1,64}$",
  refusal: "must be the name of a tool: 1 to 64 letters, digits, - and _",
});
const Model = Type.String({
  pattern: "^[!-~]{1,200}$",
  refusal: "must be the name of a model: 1 to 200 printable characters without blanks",
});

/** What is asked for when a token is created. Absent and null mean no limit. */
export const NewToken = Type.Object({
  tools: Type.Optional(
    Type.Union(
      [
        Type.Array(Tool, { maxItems: MOST_TOOLS, refusal: `must have at most ${MOST_TOOLS} names of tools` }),
        Type.Enum(["all", "none"]),
        Type.Null(),
      ],
      { description: "The tools its turns may use, the agent's own included; none where empty" },
    ),
  ),
  models: maybe(
    Type.Array(Model, {
      minItems: 1,
      maxItems: MOST_MODELS,
      refusal: `must have 1 to ${MOST_MODELS} names of models`,
      description: "The models its turns may use, with or without the provider: `openai/gpt-5-mini`",
    }),
  ),
  perDayUsd: maybe(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      refusal: "must be US dollars above 0, up to 1000000",
      description: "US dollars its turns may spend on models per day (UTC)",
    }),
  ),
  expiresInDays: maybe(
    Type.Number({ exclusiveMinimum: 0, maximum: 36_500, refusal: "must be days above 0, up to 36500" }),
  ),
});
export type NewToken = Declared<typeof NewToken>;

/** Undefined where nothing is limited: the token has no scope then. */
export function scopeIn({ tools, models, perDayUsd }: NewToken): Scope | undefined {
  const named = tools === "none" ? [] : tools === "all" ? undefined : tools;
  const scope: Scope = {
    ...(named && { tools: [...new Set(named)] }),
    ...(models && { models: [...new Set(models)] }),
    ...(typeof perDayUsd === "number" && { perDayUsd }),
  };
  return Object.keys(scope).length > 0 ? scope : undefined;
}

export function readScope(stored: string | null): Scope | undefined {
  return stored === null ? undefined : (JSON.parse(stored) as Scope);
}

/** With a token that has a scope nobody is an operator: what operators do would reach beyond it. */
export function boundBy(user: User, token: string, scope: Scope | undefined): User {
  return scope === undefined ? user : { ...user, role: "user", scope: { token, ...scope } };
}

/** Refuses what only a tool outside the scope could do. */
export function assertTool({ scope }: User, tool: string, what: string): void {
  if (scope?.tools === undefined || scope.tools.includes(tool)) return;
  throw new Fault(
    "forbidden",
    "tool_not_allowed",
    `This token may not use the tool ${tool}, so it cannot ${what}.`,
  );
}

export const SCOPED_TOKEN = new Fault(
  "forbidden",
  "scoped_token",
  "This token has a scope, so it cannot do this. Use a token without one.",
);

/** What the person who creates a token should know. Tools and models may come later, so it is no mistake. */
export function warningsOf(
  { tools = [], models }: Scope,
  here: { readonly tools: readonly string[]; readonly model: ModelName },
): readonly string[] {
  const unknown = tools.filter((tool) => !here.tools.includes(tool));
  const { provider, name } = here.model;
  const isAllowed = models === undefined || models.includes(name) || models.includes(`${provider}/${name}`);
  return [
    ...unknown.map((tool) => `There is no tool ${tool} here now.`),
    ...(isAllowed ? [] : [`The model here is ${name}, which this token may not use.`]),
  ];
}
