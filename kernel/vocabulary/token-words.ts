/** When a token ends. */

const DAY_MS = 86_400_000;
const SOON_DAYS = 7;

interface Expiring {
  readonly expiresAt?: string | null;
  readonly revokedAt?: string | null;
}

/** True for a token that is still valid but expires within a week, so that people can be warned in time. */
export function expiresSoon({ expiresAt, revokedAt }: Expiring, now = Date.now()): boolean {
  if (!expiresAt || revokedAt) return false;
  const left = Date.parse(expiresAt) - now;
  return left > 0 && left <= SOON_DAYS * DAY_MS;
}
