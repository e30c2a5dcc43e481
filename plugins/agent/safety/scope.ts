/** Enforces the scopes of the tokens behind a turn: nothing of ours is offered, called or asked beyond them. */
import { Fault, type Gate, type TokenScope } from "../../../kernel/plugin.ts";
import type { Turn } from "../services.ts";

/** The turn's own, and those of the turn that it works for or whose gate it answers: whoever answers, it is still that turn's work. */
export function scopesOf(
  { input, scope, work }: Pick<Turn, "input" | "scope" | "work">,
  gate?: Pick<Gate, "scopes">,
): readonly TokenScope[] {
  const inherited = (input.type === "message" ? work?.task?.scopes : gate?.scopes) ?? [];
  return scope === undefined || inherited.some(({ token }) => token === scope.token)
    ? inherited
    : [...inherited, scope];
}

export function allowsTool(scopes: readonly TokenScope[], name: string): boolean {
  return scopes.every(({ tools }) => tools === undefined || tools.includes(name));
}

/** An answer that stands for later turns too would reach beyond the token. */
export function refuseWidening({ input, scope }: Turn): void {
  if (scope === undefined || input.type !== "approval") return;
  if (input.decision === "once" || input.decision === "deny") return;
  const what = { always: "a tool", destination: "a destination", rule: "anything" }[input.decision];
  const message = `A token with a scope cannot allow ${what} for good: answer "once", or sign in without a scope.`;
  throw new Fault("forbidden", "scoped_token", message, { param: "decision" });
}
