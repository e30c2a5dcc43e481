/** Addresses, accounts, links, paths and people that the person named. What only looks alike is another name. */
import { trimEnd } from "../../../kernel/kit/words.ts";
import requests from "../words/requests.json" with { type: "json" };

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

export function namesIn(text: string) {
  const plain = withoutRefused(text.normalize("NFC"));
  const shown = collapse(plain);
  const lower = collapse(plain.toLowerCase());
  const links = linksIn(plain);
  const hasNumber = groupsIn(lower);

  /** True where nothing before or after it makes it part of another name. */
  const stands = (name: string, isMeant = (_at: number) => true): boolean => {
    for (let at = lower.indexOf(name); at !== -1; at = lower.indexOf(name, at + 1))
      if (opensAt(lower, at) && closesAt(lower, at + name.length) && isMeant(at)) return true;
    return false;
  };
  /** True where it is also written like theirs, or in one case: which letters are capitals could carry something. */
  const standsAs = (name: string): boolean => {
    const small = name.toLowerCase();
    const isUsual = [
      small,
      name.toUpperCase(),
      small.replace(/(?<=^#?|\s)\p{L}/gu, (one) => one.toUpperCase()),
    ];
    const isNamed = BARE.test(name) ? isOutsideOf(quotationsIn(shown), name.length) : () => true;
    return stands(small, (at) => (isUsual.includes(name) || shown.startsWith(name, at)) && isNamed(at));
  };
  // Nobody who said https means http.
  const isAsSecure = (wasSecure: boolean | undefined, isSecure: boolean) =>
    wasSecure !== undefined && (!wasSecure || isSecure);
  const hasLink = (name: string): boolean => {
    if (links.written.has(name)) return true;
    const link = linkOf(name);
    return link?.isNormal === true && isAsSecure(links.known.get(link.to), link.isSecure);
  };

  return {
    /** The hosts that they wrote as addresses. */
    hosts: new Set(links.hosts.keys()) as ReadonlySet<string>,
    isSender(value: string): boolean {
      const name = value.trim().toLowerCase();
      const isOther = (at: number) => !FROM.test(lower.slice(Math.max(0, at - 8), at));
      return name !== "" && stands(name) && !stands(name, isOther);
    },
    /** True for a link to a host that they wrote as an address, whatever follows it. */
    hasHost(address: string): boolean {
      const link = linkOf(address);
      return link?.isNormal === true && isAsSecure(links.hosts.get(hostOf(link)), link.isSecure);
    },
    /** `isLink`: it is used as an address on the network, for which a bare word that looks like a host is not enough. */
    has(value: string, isLink = false): boolean {
      const name = value.replace(/^mailto:/, "");
      if (name === "" || name.length > MAX_NAME_LENGTH || hasHidden(name) || name !== name.normalize("NFC"))
        return false;
      // White space that is not seen could carry something.
      if (name !== collapse(name).trim()) return false;
      if (/:\/\/|^www\./i.test(name) || (isLink && isHost(name))) return hasLink(name);
      return standsAs(name) || (isHost(name) && hasLink(name)) || hasNumber(name.toLowerCase());
    },
  };
}

const BARE = /^[\p{L}\s-]+$/u;
const QUOTATION =
  /(?<=^|[\s(:,])(?:'[^'\n]{1,2000}'|"[^"\n]{1,2000}"|“[^“”\n]{1,2000}”|‘[^‘’\n]{1,2000}’)(?=$|[\s).,;:!?])/gu;

type Span = readonly [from: number, to: number];

/** Quotations of several words, without their marks. */
function quotationsIn(text: string): readonly Span[] {
  const spans = [...text.matchAll(QUOTATION)].map(
    ({ 0: quoted, index }): Span => [index + 1, index + quoted.length - 1],
  );
  return spans.filter(([from, to]) => text.slice(from, to).trim().includes(" "));
}

/** A word of what is to be said names nobody: 'See you at ten' is for no channel "ten". */
function isOutsideOf(quotations: readonly Span[], length: number): (at: number) => boolean {
  return (at) =>
    quotations.every(([from, to]) => at + length <= from || at >= to || (at === from && at + length === to));
}

const ADDRESS_WORDS = new Set(requests.beforeHosts.split(" "));
/** Words between "site" and its name. */
const BETWEEN_WORDS = /^(?:the|at|is|of|called|named|on|under|der|die|das|le|la|el|il)$/;
/** Names of files end like this, and some of these are also the ends of hosts. */
const FILE_END = new Set(requests.fileEnds.split(" "));

/** The links in a text: as they are written, and where they lead, with whether each was said to be https. */
function linksIn(text: string) {
  const written = new Set<string>();
  const known = new Map<string, boolean>();
  const hosts = new Map<string, boolean>();
  const add = (token: string, isSaid: (bare: string) => boolean): void => {
    const bare = trimMarks(token.slice(0, MAX_NAME_LENGTH * 4));
    const link = linkOf(bare);
    if (link === undefined || !(link.hasScheme || /^www\./i.test(bare) || isSaid(bare))) return;
    written.add(bare);
    known.set(link.to, (known.get(link.to) ?? true) && link.isSecure);
    hosts.set(hostOf(link), (hosts.get(hostOf(link)) ?? true) && link.isSecure);
  };
  const tokens = text.split(TOKENS);
  const bareWord = (at: number) => trimMarks(tokens[at] ?? "").toLowerCase();
  for (const [at, token] of tokens.entries())
    add(token, (bare) => {
      if (bare.includes("/"))
        return !FILE_END.has(/^[^/:?#]*\.([^./:?#]+)/.exec(bare)?.[1]?.toLowerCase() ?? "");
      const before = BETWEEN_WORDS.test(bareWord(at - 1)) ? at - 2 : at - 1;
      return ADDRESS_WORDS.has(bareWord(before)) || ADDRESS_WORDS.has(bareWord(at + 1));
    });
  for (const token of text.split(/\s+/u)) add(token, () => false);
  return { written, known, hosts };
}

/** The host of a link, as it is among the `hosts` of a text. */
export function hostIn(address: string): string | undefined {
  const link = linkOf(address);
  return link && hostOf(link);
}

const hostOf = ({ to }: Link): string => to.replace(/[/?#].*$/s, "");

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

interface Link {
  /** The normalised target, without the scheme. */
  readonly to: string;
  readonly isSecure: boolean;
  readonly hasScheme: boolean;
  /** True where it is written just as it is read: no other way to write it could carry something, or be read differently. */
  readonly isNormal: boolean;
}

/** Reads a link; undefined where it is none, or has a user name in it. */
export function linkOf(written: string): Link | undefined {
  if (/[\s\\]/.test(written)) return undefined;
  const scheme = /^([a-z][a-z0-9+.-]{0,20}):\/\//i.exec(written)?.[1]?.toLowerCase();
  const hasScheme = scheme !== undefined;
  if (!hasScheme && !isHost(written)) return undefined;
  if (hasScheme && scheme !== "http" && scheme !== "https") {
    const to = `${scheme}:${written.slice(scheme.length)}`;
    return { to, isSecure: true, hasScheme, isNormal: written.startsWith(scheme) };
  }
  const whole = hasScheme ? written : `https://${written}`;
  const url = URL.parse(whole);
  if (url === null || url.username !== "" || url.password !== "" || /[#?]$/.test(written)) return undefined;
  const host = url.hostname.replace(/\.$/, "");
  return {
    to: `${host.replace(/^www\./, "")}:${url.port}${url.pathname.replace(/\/$/, "")}${url.search}${url.hash}`,
    isSecure: url.protocol === "https:",
    hasScheme,
    isNormal: host === url.hostname && (whole === url.href || `${whole}/` === url.href),
  };
}

/** Account and telephone numbers, which are written in groups: "DE89 3704", "+49 (0) 30 12". */
function groupsIn(lower: string): (value: string) => boolean {
  const starts = new Set<number>();
  const ends = new Set<number>();
  let joined = "";
  for (const [group] of lower.replaceAll("(0)", " ").matchAll(/\+?[\p{L}\p{N}]+/gu)) {
    starts.add(joined.length);
    joined += group;
    ends.add(joined.length);
  }
  /** `cuts`: where it is divided, counted from its end. */
  const stands = (number: string, cuts: readonly number[]): boolean => {
    for (let at = joined.indexOf(number); at !== -1; at = joined.indexOf(number, at + 1)) {
      const end = at + number.length;
      const isUsual = cuts.every((cut) => starts.has(end - cut) || (number.length - cut) % 4 === 0);
      if (starts.has(at) && ends.has(end) && isUsual) return true;
    }
    return false;
  };
  return (value) => {
    const [, separator = ""] = /^\+?[a-z0-9]+([ ./-]?)/.exec(value) ?? [];
    const groups = separator === "" ? [value] : value.split(separator);
    const number = groups.join("");
    if (number.length > MAX_NUMBER_LENGTH || !/^\+?[a-z0-9]{6,}$/.test(number)) return false;
    if (groups.includes("") || number.replaceAll(/\D/g, "").length < 4) return false;
    if ((separator === "." || separator === "/") && !/^\+?\d+$/.test(number)) return false;
    const cuts = groups.slice(1).map((_, at) => groups.slice(at + 1).join("").length);
    return [number, number.replace(/^\+/, "00"), number.replace(/^00/, "+")].some((one) => stands(one, cuts));
  };
}
