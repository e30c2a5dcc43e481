/** Addresses, accounts, links, paths and people that the person named. What only looks alike is another name. */
import { trimEnd } from "../../../../../kernel/kit.ts";
import requests from "../words/requests.json" with { type: "json" };

export interface Names {
  has(value: string): boolean;
}

interface SaidNames extends Names {
  /** True where it is only named as the one that something is from. */
  isSender(value: string): boolean;
}

const MAX_NAME_LENGTH = 500;
const MAX_NUMBER_LENGTH = 48;
/** Characters that a machine sees and an eye does not: they could carry something. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Mn}]/u;
const TOKENS = /[\s<>"“”„«»()[\]{}`]+/u;
const OPENS = /[\s'"“”„‘’`«»(<[{,;:*]/u;
const CLOSES = /[\s'"“”‘’`«»)>\]},;!?*]/u;

export function hasHidden(text: string): boolean {
  return HIDDEN.test(text.normalize("NFC").replace(/[\n\t\r]/g, " "));
}

export function namesIn(text: string): SaidNames {
  const plain = withoutRefused(text.normalize("NFC"));
  const lower = collapse(plain.toLowerCase());
  const links = new Set<string>();
  for (const token of [...plain.split(TOKENS), ...plain.split(/\s+/u)]) {
    const link = linkOf(trimMarks(token.slice(0, MAX_NAME_LENGTH * 4)));
    if (link !== undefined) links.add(link);
  }
  const numbers = groupsIn(lower);

  /** True where nothing before or after it makes it part of another name. */
  const stands = (name: string, isMeant = (_at: number) => true): boolean => {
    for (let at = lower.indexOf(name); at !== -1; at = lower.indexOf(name, at + 1))
      if (opensAt(lower, at) && closesAt(lower, at + name.length) && isMeant(at)) return true;
    return false;
  };

  return {
    isSender(value) {
      const name = value.trim().toLowerCase();
      const isOther = (at: number) => !FROM.test(lower.slice(Math.max(0, at - 8), at));
      return name !== "" && stands(name) && !stands(name, isOther);
    },
    has(value) {
      const name = value.trim().replace(/^mailto:/i, "");
      if (name === "" || name.length > MAX_NAME_LENGTH || hasHidden(name) || name !== name.normalize("NFC"))
        return false;
      if (/:\/\/|^www\./i.test(name)) {
        const link = linkOf(name);
        return link !== undefined && links.has(link);
      }
      if (stands(collapse(name.normalize("NFC").toLowerCase()))) return true;
      const link = isHost(name) ? linkOf(name) : undefined;
      return (link !== undefined && links.has(link)) || numbers.has(name.toLowerCase());
    },
  };
}

const FROM = /(?:^|[\s,;:(])(?:from|by|von|par)[\s"'“‘<(@]{1,3}$/u;
const NOT = new Set(requests.notBeforeNames.split(" "));
/** After a "not" these words reverse it: "do not forget". */
const REVERSING = new Set(requests.afterNot.split(" "));
const MAX_REFUSED_WORDS = 7;

/** Drops the words that follow a "not" in its part of the sentence: whom they said not to write to. */
function withoutRefused(text: string): string {
  let left = 0;
  const words = text.split(/(\s+)/u);
  for (const [at, word] of words.entries()) {
    if (word.trim() === "") {
      if (word.includes("\n")) left = 0;
      continue;
    }
    const bare = trimMarks(word).toLowerCase().replaceAll(/['’]/g, "");
    if (NOT.has(bare) && !REVERSING.has((words[at + 2] ?? "").toLowerCase())) left = MAX_REFUSED_WORDS;
    else if (bare === "but" || bare === "instead") left = 0;
    else if (left > 0) {
      left--;
      words[at] = ";";
    }
    if (/[,;.!?:]$/.test(word)) left = 0;
  }
  return words.join("");
}

/** The token without the punctuation of the sentence around it. */
export function trimMarks(token: string): string {
  return trimEnd(token.replace(/^['’‘,;!?*_]+/u, ""), "'’‘,;!?.:*_");
}

function collapse(text: string): string {
  return text.replace(/\s+/gu, " ");
}

function opensAt(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  if (at === 0 || OPENS.test(before)) return true;
  // "#general" and "@alice" name general and alice.
  return (before === "#" || before === "@") && (at === 1 || OPENS.test(text.charAt(at - 2)));
}

function closesAt(text: string, end: number): boolean {
  const after = text.charAt(end);
  if (after === "" || CLOSES.test(after)) return true;
  const following = text.charAt(end + 1);
  return (after === "." || after === ":") && (following === "" || CLOSES.test(following));
}

/** True for a host name, with or without a port and a path. */
export function isHost(value: string): boolean {
  return /^(?:[\p{L}\p{N}_-]{1,63}\.){1,10}[\p{L}\p{N}-]{2,63}\.?(?::\d{1,5})?(?:[/?#]\S*)?$/u.test(value);
}

/** What a link leads to, normalised; undefined where it is no link, or has a user name in it. */
function linkOf(written: string): string | undefined {
  if (/[\s\\]/.test(written)) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]{0,20}):\/\//i.exec(written)?.[1]?.toLowerCase();
  if (scheme === undefined && !isHost(written)) return undefined;
  if (scheme !== undefined && scheme !== "http" && scheme !== "https")
    return `${scheme}:${written.slice(scheme.length)}`;
  const url = URL.parse(scheme === undefined ? `https://${written}` : written);
  if (url === null || url.username !== "" || url.password !== "" || /[#?]$/.test(written)) return undefined;
  const host = url.hostname.replace(/\.$/, "").replace(/^www\./, "");
  return `${host}:${url.port}${url.pathname.replace(/\/$/, "")}${url.search}${url.hash}`;
}

/** Account and telephone numbers, which are written in groups: "DE89 3704", "+49 (0) 30 12". */
function groupsIn(lower: string): Names {
  const starts = new Set<number>();
  const ends = new Set<number>();
  let joined = "";
  for (const [group] of lower.replaceAll("(0)", " ").matchAll(/\+?[\p{L}\p{N}]+/gu)) {
    starts.add(joined.length);
    joined += group;
    ends.add(joined.length);
  }
  const stands = (number: string): boolean => {
    for (let at = joined.indexOf(number); at !== -1; at = joined.indexOf(number, at + 1))
      if (starts.has(at) && ends.has(at + number.length)) return true;
    return false;
  };
  return {
    has(value) {
      const isDigits = /^\+?[\d\s()./-]+$/.test(value);
      const number = value
        .replaceAll("(0)", "")
        .replaceAll(isDigits ? /[\s()./-]/g : /[\s-]/g, "")
        .slice(0, MAX_NUMBER_LENGTH + 1);
      if (number.length > MAX_NUMBER_LENGTH || !/^\+?[a-z0-9]{6,}$/.test(number)) return false;
      if (number.replaceAll(/\D/g, "").length < 4) return false;
      return [number, number.replace(/^\+/, "00"), number.replace(/^00/, "+")].some(stands);
    },
  };
}
