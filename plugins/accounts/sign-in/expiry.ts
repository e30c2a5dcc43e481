/** Warns the operator in the log, once a day, of tokens that expire soon. */
import { expiresSoon } from "../../../kernel/kit/people.ts";
import type { Log } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import type { Tokens } from "../records/tokens.ts";

const DAY_MS = 86_400_000;

/** Runs on one of all nodes. Returns a function that stops it. */
export function watchExpiry(
  store: Pick<Store, "repeat">,
  { listTokens }: Pick<Tokens, "listTokens">,
  log: Pick<Log, "warn">,
): () => void {
  return store.repeat("tokens that expire", DAY_MS, async () => {
    for (const token of await listTokens())
      if (expiresSoon(token))
        log.warn({ code: "token_expires_soon", user: token.user, token: token.id }, expiryInWords(token));
  });
}

interface ExpiringToken {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly expiresAt?: string;
}

export function expiryInWords({ id, user, name, expiresAt = "" }: ExpiringToken): string {
  return `the token "${name}" of ${user} expires ${whenInWords(expiresAt)} (${expiresAt.slice(0, 16)}Z): postern token expire ${id} 90`;
}

/** Returns text such as "in 3 days" or "in 5 hours". */
export function whenInWords(expiresAt: string, now = Date.now()): string {
  const hours = Math.max(1, Math.round((Date.parse(expiresAt) - now) / 3_600_000));
  const [count, unit] = hours < 48 ? [hours, "hour"] : [Math.round(hours / 24), "day"];
  return `in ${count} ${unit}${count === 1 ? "" : "s"}`;
}
