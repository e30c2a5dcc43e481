/** Addresses of web pages, as a tool gets them that may read any: whose they are, and what in them is whose. */
import { readings } from "../../../kernel/kit/untrusted.ts";
import { foldedWords } from "../../../kernel/kit/words.ts";
import type { Scalar } from "../outputs/records.ts";
import { linkOf } from "../person/identifiers.ts";
import { hear, type Said } from "../person/utterances.ts";
import { isSaid } from "./read-check.ts";

const MAX_PARTED_LENGTH = 4000;
const MIN_SHARED_LENGTH = 3;
const USUAL = new Set("http https www com org net html htm php index".split(" "));

/** True where the person wrote the address, or the host as an address and every word of the rest about that site. */
export function isOwnAddress(address: string, said: Said): boolean {
  if (said.hasName(address, true)) return true;
  if (!linkOf(address)?.hasScheme || !said.hasHost(address)) return false;
  const rest = restOf(address);
  const plain = decoded(rest);
  // The choice of characters to encode could carry something.
  return plain !== undefined && encodeURI(plain) === rest && isSaid(plain, saidAbout(address, said));
}

const ABOUT = new WeakMap<Said, Map<string, Said>>();

/** That the person said a word does not mean that they said it to this site. */
function saidAbout(address: string, said: Said): Said {
  const texts = said.about(address);
  const known = ABOUT.getOrInsertComputed(said, () => new Map());
  return known.getOrInsertComputed(texts.join("\n"), () => hear(texts));
}

/** Returns everything after the host. */
function restOf(address: string): string {
  return address.replace(/^[a-z]+:\/\/[^/?#]*\/?/i, "");
}

function decoded(text: string): string | undefined {
  try {
    return decodeURI(text);
  } catch {
    return undefined;
  }
}

/** The longest part of the address that is not the person's, a part that others said before one that nobody did, and else the host. */
export function foreignPart(
  value: Scalar,
  said: Said,
  isOthers: (part: string) => boolean,
): string | undefined {
  const address = String(value);
  const own = saidAbout(address, said);
  const parts = restOf(address)
    .slice(0, MAX_PARTED_LENGTH)
    .split(/[/?&=#;,+]+/)
    .filter((part) => part !== "" && !isSaid(decoded(part) ?? part, own))
    .toSorted((one, other) => other.length - one.length);
  return parts.find(isOthers) ?? parts[0] ?? (said.hasHost(address) ? undefined : URL.parse(address)?.host);
}

/** Returns a check: does a link repeat a word that was put into this address, also an encoded one? */
export function repeatsWordsOf(address: string): (link: string) => boolean {
  const put = readings(Buffer.from(restOf(address).toWellFormed())).flatMap((bytes) =>
    foldedWords(bytes.toString()),
  );
  const telling = [...new Set(put)].filter((word) => word.length >= MIN_SHARED_LENGTH && !USUAL.has(word));
  return (link) => {
    const text = foldedWords(`${link} ${decoded(link) ?? ""}`).join(" ");
    return telling.some((word) => text.includes(word));
  };
}
