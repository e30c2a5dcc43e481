/** Times as people say them. */

const MINUTE_MS = 60_000;
const DAYS_IN_WORDS = 30;

/** "just now", "5 min ago", "in 3 h", "2 days ago"; the date where it is a month or more away. */
export function relativeTime(time: string, now = Date.now()): string {
  const at = Date.parse(time);
  const minutes = Math.round(Math.abs(now - at) / MINUTE_MS);
  if (minutes < 1) return at > now ? "in a moment" : "just now";
  const hours = Math.round(minutes / 60);
  const days = Math.round(hours / 24);
  if (days > DAYS_IN_WORDS) return new Date(at).toISOString().slice(0, "2026-11-16".length);
  const words = minutes < 60 ? `${minutes} min` : hours < 48 ? `${hours} h` : `${days} days`;
  return at > now ? `in ${words}` : `${words} ago`;
}
