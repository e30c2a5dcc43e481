/** The scope of a token: what it may use, as it is requested, kept and applied to its user. */
import type { NewToken } from "../../../kernel/kit/people.ts";
import type { ModelName, TokenScope, User } from "../../../kernel/plugin.ts";

/** A scope without the token it belongs to. An absent part is not limited. */
export type Scope = Omit<TokenScope, "token">;

export interface AvailableHere {
  readonly tools: readonly string[];
  readonly model: ModelName;
}

/** Returns undefined if nothing is limited: the token has no scope then. */
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

/** With a scoped token nobody is an operator, since what operators do would reach beyond the scope. */
export function boundBy(user: User, token: string, scope: Scope | undefined): User {
  return scope === undefined ? user : { ...user, role: "user", scope: { token, ...scope } };
}

/** Names of unknown tools and models are only warned about: they may be installed later. */
export function warningsOf({ tools = [], models }: Scope, here: AvailableHere): readonly string[] {
  const unknown = tools.filter((tool) => !here.tools.includes(tool));
  const { provider, name } = here.model;
  const isAllowed = models === undefined || models.includes(name) || models.includes(`${provider}/${name}`);
  return [
    ...unknown.map((tool) => `There is no tool ${tool} here now.`),
    ...(isAllowed ? [] : [`The model here is ${name}, which this token may not use.`]),
  ];
}

export function toUser(id: string, role: User["role"], name: string | null): User {
  return name === null ? { id, role } : { id, role, name };
}
