/** Tokens that expire soon: said before, not when they no longer work. Also used by the page. */

const DAY_MILLIS = 86_400_000;
const SOON_DAYS = 7;

interface Expiring {
  readonly expiresAt?: string | null | undefined;
  readonly revokedAt?: string | null | undefined;
}

/** Not yet, but within a week. */
export function expiresSoon({ expiresAt, revokedAt }: Expiring, now = Date.now()): boolean {
  if (!expiresAt || revokedAt) return false;
  const left = Date.parse(expiresAt) - now;
  return left > 0 && left <= SOON_DAYS * DAY_MILLIS;
}

/** "in 3 days", "in 5 hours". */
export function whenInWords(expiresAt: string, now = Date.now()): string {
  const hours = Math.max(1, Math.round((Date.parse(expiresAt) - now) / 3_600_000));
  const [count, unit] = hours < 48 ? [hours, "hour"] : [Math.round(hours / 24), "day"];
  return `in ${count} ${unit}${count === 1 ? "" : "s"}`;
}

export function expiryInWords(
  { id, user, name, expiresAt = "" }: { id: string; user: string; name: string; expiresAt?: string },
  now = Date.now(),
): string {
  return `the token "${name}" of ${user} expires ${whenInWords(expiresAt, now)} (${expiresAt.slice(0, 16)}Z): postern token expire ${id} 90`;
}
