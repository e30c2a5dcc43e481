/** What a parameter is for: where something goes, what is meant, or what is said. Guessed from its name, and never too mildly. */
import { wordsOfName } from "../../models/builtin/words.ts";

export type Role = "destination" | "selector" | "content";

const WHERE = new Set(
  `to recipient recipients email emails mail mails address addresses url uri link href host hostname domain server endpoint
  webhook callback account iban bic wallet phone channel channels participant participants attendee attendees cc bcc user users
  member members invitee invitees room topic queue bucket repository repo path destination target forward`.split(
    /\s+/,
  ),
);
const WHICH = new Set(
  `id ids key name names filename file query search filter sender event number ref reference slug hotel restaurant company city
  country category tag label title`.split(/\s+/),
);
const WHAT = /^(?:body|content|contents|text|message|subject|description|note|notes|comment|password)$/;

interface Property {
  readonly format?: unknown;
}

export function roleOf(name: string, property: Property | undefined): Role {
  if (
    typeof property?.format === "string" &&
    /^(?:idn-)?(?:email|hostname)$|^ur[il]|^iri/.test(property.format)
  )
    return "destination";
  const words = wordsOfName(name);
  const last = words.at(-1) ?? "";
  if (WHAT.test(last)) return "content";
  // "file_path" is a place, "user_id" says which one.
  if (WHICH.has(last)) return "selector";
  return words.some((word) => WHERE.has(word)) ? "destination" : "content";
}

/** A text that is an address itself, whatever its parameter is called. */
export function isAddress(value: string): boolean {
  return /^\s*(?:[a-z][a-z0-9+.-]*:\/\/|www\.)/i.test(value) || /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value);
}
