/** The end of a token in words. The page shows them too, so this file imports nothing. */

const DAY_MILLIS = 86_400_000;
const SOON_DAYS = 7;

interface Expiring {
  readonly expiresAt?: string | null;
  readonly revokedAt?: string | null;
}

/** True for a token that is still valid but expires within a week, so that people can be warned in time. */
export function expiresSoon({ expiresAt, revokedAt }: Expiring, now = Date.now()): boolean {
  if (!expiresAt || revokedAt) return false;
  const left = Date.parse(expiresAt) - now;
  return left > 0 && left <= SOON_DAYS * DAY_MILLIS;
}

/** Returns text such as "in 3 days" or "in 5 hours". */
export function whenInWords(expiresAt: string, now = Date.now()): string {
  const hours = Math.max(1, Math.round((Date.parse(expiresAt) - now) / 3_600_000));
  const [count, unit] = hours < 48 ? [hours, "hour"] : [Math.round(hours / 24), "day"];
  return `in ${count} ${unit}${count === 1 ? "" : "s"}`;
}
