/** What a parameter is for: where something goes, what is meant, or what is said. Guessed from its name, and never too mildly. */
import { wordsOfName } from "../../../kernel/kit.ts";
import { isHost } from "../values/names.ts";

export type Role = "destination" | "selector" | "content";

const words = (text: string) => new Set(text.split(/\s+/));

/** Whatever else its name says: it leads out of here. */
const LINK = words(
  "url uri link href host hostname domain server endpoint webhook callback site website origin proxy",
);
/** Also where it is called the number or the name of one. */
const ADDRESS = words(
  `email emails mail mails address addresses account accounts iban bic wallet phone telephone mobile fax recipient recipients
  channel channels cc bcc bucket repository repo payee beneficiary`,
);
const WHERE = words(
  `to participant participants attendee attendees user users member members invitee invitees guest guests assignee room topic queue
  path destination target forward folder directory group team workspace inbox mailbox contact contacts person people username
  handle receiver sharing share shared`,
);
const WHICH = words(
  `id ids key name names filename file query search filter sender event number ref reference slug hotel restaurant company city
  country category tag label title`,
);
const WHAT = words(
  "body content contents text message subject description note notes comment password title_text caption",
);
const FORMAT = /^(?:idn-)?(?:email|hostname)$|^ur[il]|^iri|^ipv[46]$|^(?:phone|tel)/;

/** `path`: the names of a param and of what it is in, the outermost first. */
export function roleOf(path: readonly string[], format?: string): Role {
  if (format !== undefined && FORMAT.test(format)) return "destination";
  const own = wordsOfName(path.at(-1) ?? "");
  const last = own.at(-1) ?? "";
  if (own.some((word) => LINK.has(word))) return "destination";
  if (WHAT.has(last)) return "content";
  const isId = last === "id" || last === "ids" || last === "key";
  if (!isId && own.some((word) => ADDRESS.has(word))) return "destination";
  // "file_path" is a place, "user_id" says which one.
  if (WHICH.has(last) && (isId || !own.some((word) => WHERE.has(word)))) {
    // The name of a recipient, where recipients have names and addresses.
    return !isId && path.slice(0, -1).some((name) => roleOf([name]) === "destination")
      ? "destination"
      : "selector";
  }
  if (own.some((word) => WHERE.has(word))) return "destination";
  return path.length > 1 && path.slice(0, -1).some((name) => roleOf([name]) === "destination")
    ? "destination"
    : "content";
}

const RECIPIENT = words(
  `to recipient recipients email emails cc bcc user users participant participants attendee attendees username handle receiver person
  people contact contacts invitee invitees guest guests`,
);

/** True where it says who gets something. */
export function namesRecipient(name: string): boolean {
  return wordsOfName(name).some((word) => RECIPIENT.has(word));
}

const USUAL = new Set([
  ...[LINK, ADDRESS, WHERE, WHICH, WHAT].flatMap((one) => [...one]),
  ...`amount count limit page offset size from start end date time type kind value text lang language unit units currency
  status state order sort by at in of format mode list item items data input options settings is has max min new old first last`.split(
    /\s+/,
  ),
]);
const MOST_NAME_WORDS = 3;

/** A name for a param that many tools have: it says nothing but what it is for. */
export function isUsualName(name: string): boolean {
  const own = wordsOfName(name);
  return (
    /^[a-z_]{1,40}$/i.test(name) && own.length <= MOST_NAME_WORDS && own.every((word) => USUAL.has(word))
  );
}

/** True where it says where on the network something is. */
export function leadsOut(path: readonly string[], format?: string): boolean {
  if (format !== undefined && /^(?:idn-)?hostname$|^ur[il]|^iri|^ipv/.test(format)) return true;
  return path.some((name) => wordsOfName(name).some((word) => LINK.has(word)));
}

/** A text that can only be an address; "notes.md" may be a file. */
export function isPlainAddress(value: string): boolean {
  const text = value.trim();
  return /^(?:[a-z][a-z0-9+.-]*:\S|\/\/|www\.)/i.test(text) || /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text);
}

/** A text that is an address itself, whatever its parameter is called. */
export function isAddress(value: string): boolean {
  return isPlainAddress(value) || isHost(value.trim());
}
