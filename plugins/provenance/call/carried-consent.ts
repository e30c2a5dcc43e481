/**
 * What a yes allows beyond the call that was asked about, for the rest of the turn: at the same owner, in a step that the person asked
 * for and that takes nothing away, the same thing again, what the allowed calls made, and the code that was sent to confirm that.
 */
import { stem, wordsOfName } from "../../../kernel/kit/words.ts";
import type { AnswerRecord, Scalar } from "../outputs/records.ts";
import { recordsNamed } from "../outputs/references.ts";
import { contains, listedIn } from "../outputs/search.ts";
import type { Said } from "../person/utterances.ts";
import { type Leaf, leavesOf } from "./param-values.ts";
import { isAskedFor, subjectsOf, takesAway } from "./requested-action.ts";

export interface Consent {
  /** The calls that the person approved. */
  readonly approved: readonly Parameters<typeof leavesOf>[0][];
  /** The changing calls since the first of these. */
  readonly made: readonly Made[];
}

interface Answered {
  readonly text: string;
  readonly asked: unknown;
}

interface Made extends Answered {
  /** Its place in the conversation. */
  readonly at: number;
  readonly tool: string;
}

interface Heard extends Answered {
  readonly owner: string;
  readonly isMade?: boolean | undefined;
  readonly at?: number;
}

interface Carrier {
  readonly name: string;
  readonly owner: string;
  readonly writes: boolean;
  readonly consent?: Consent | undefined;
  /** Given for a step that they agreed to. */
  readonly planned?: ReadonlySet<string> | undefined;
}

const CODE = /^(?=.*\d)[\p{L}\p{N}-]{3,16}$/u;
const TOKEN = /[\p{L}\p{N}](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?/gu;
const PART = /[,;.!?:]\s|[\r\n]/u;
/** In quotes or brackets stands what somebody else may have written. */
const MARKED = /["“”„‘’'`«»<>()[\]{}]/u;
/** Of these, each thing has one. */
const GENERIC = new Set("id key number no ref reference".split(" "));
const LINKING = new Set("the your a an new is was".split(" "));
const MAX_PROSE = 2000;
const CLAUSE = /(?<=[.!?])\s+|,\s|\n+/u;

export function carriedBy(
  called: Carrier,
  leaves: readonly Leaf[],
  said: Said,
  heard: readonly Heard[],
): (leaf: Leaf) => boolean {
  const { consent, owner } = called;
  if (
    consent === undefined ||
    !called.writes ||
    takesAway(called) ||
    !(called.planned || isAskedFor(called, said))
  )
    return () => false;
  const own = heard.filter((one) => one.owner === owner && !one.isMade);
  const approved = new Set(consent.approved.flatMap((call) => leavesOf(call).map(keyOf)));

  /** It is a thing in a list, and the person's words name no other one for this step. */
  const isSame = (leaf: Leaf) =>
    approved.has(keyOf(leaf)) &&
    own.some((one) =>
      listedIn(one)
        .values.get(String(leaf.value))
        ?.some((record) => fieldOf(record, leaf.name)),
    ) &&
    own.every((one) =>
      recordsNamed(one, said).every((record) => {
        const other = fieldOf(record, leaf.name);
        return other === undefined || String(other) === String(leaf.value);
      }),
    );

  /** Where the call that made it stands: nobody had spoken of it before. */
  const madeAt = ({ name, value }: Leaf): number | undefined =>
    consent.made.find(({ at, tool, text }) => {
      const subjects = subjectsOf(tool, owner);
      if (givenBy(text, name, subjects) !== String(value)) return false;
      const isIn = contains(value);
      return heard.every((one) => {
        const isBefore = (one.at ?? -1) < at;
        const isAsked =
          one.at !== undefined && one.at <= at && isIn({ text: JSON.stringify(one.asked ?? "") });
        return !isAsked && !(isBefore && isIn(one));
      });
    })?.at;

  /** It stands by what was made and nowhere else, and nothing else stands there. */
  const isCode = ({ value }: Leaf) => {
    if (typeof value === "boolean" || !CODE.test(String(value))) return false;
    return leaves.some((leaf) => {
      const from = leaf.role === "selector" ? madeAt(leaf) : undefined;
      if (from === undefined) return false;
      const id = String(leaf.value);
      const codes = heard
        .flatMap((one) => ((one.at ?? -1) > from ? clausesOf(one) : []))
        .flatMap((tokens) => {
          const others = tokens.filter((token) => token !== id && /\d/.test(token));
          return tokens.includes(id) || others.includes(String(value))
            ? [{ isOf: tokens.includes(id), others }]
            : [];
        });
      const isIn = contains(value);
      const isNew = !heard.some((one) => (one.at ?? -1) <= from && isIn(one));
      return (
        isNew &&
        codes.every(({ isOf }) => isOf) &&
        new Set(codes.flatMap(({ others }) => others)).size === 1 &&
        codes.some(({ others }) => others.includes(String(value)))
      );
    });
  };

  return (leaf) => {
    if (leaf.role === "selector") return isSame(leaf) || madeAt(leaf) !== undefined;
    return leaf.role === "content" && isCode(leaf);
  };
}

const keyOf = ({ name, role, value }: Leaf) => JSON.stringify([name, role, value]);
const sameName = (one: string, other: string) => wordsOfName(one).join() === wordsOfName(other).join();
const lastOf = (name: string) => name.split(".").at(-1) ?? "";

export function fieldOf(record: AnswerRecord, param: string): Scalar | undefined {
  return record.find(([field, , isListed]) => !isListed && sameName(field, lastOf(param)))?.[1];
}

/**
 * What the answer of a call says that it made: in its own fields, and not in what these hold. Where fields are lines, the text in one may
 * have brought the next along, so that only the first counts, and so do the first words of prose.
 */
export function givenBy(text: string, param: string, subjects: ReadonlySet<string>): string | undefined {
  const words = wordsOfName(lastOf(param));
  const [record] = /^\s*(?:\[|- )/.test(text) ? [] : listedIn({ text }).records;
  if (record === undefined) {
    const telling = words.filter((word) => !GENERIC.has(word));
    return inProse(text, telling.length > 0 ? new Set(telling) : subjects.union(new Set(words)));
  }
  const isBare =
    words.length > 1 && words.at(-1) === "id" && words.slice(0, -1).every((word) => subjects.has(word));
  const own = text.trimStart().startsWith("{") ? record : record.slice(0, 1);
  const found = fieldOf(own, param) ?? (isBare ? fieldOf(own, "id") : undefined);
  return found === undefined ? undefined : String(found);
}

/** "Booking B-7012 is held" begins with its name and it, as a first line of fields does, and has no other number of that name. */
function inProse(text: string, names: ReadonlySet<string>): string | undefined {
  const wordsIn = (part: string) =>
    (part.match(TOKEN) ?? []).filter((word) => !LINKING.has(word.toLowerCase()));
  const isNumber = (word: string) => /\d/.test(word);
  const isTelling = (one: string) => names.has(one) || names.has(stem(one));
  const isName = (word: string) => wordsOfName(word).every((one) => GENERIC.has(one) || isTelling(one));
  const [first = ""] = text.split(PART, 1);
  if (text.length > MAX_PROSE || MARKED.test(first)) return undefined;
  const begin = wordsIn(first);
  const [value] = begin.filter(isNumber);
  const at = begin.findIndex(isNumber);
  const name = begin.slice(0, at);
  if (value === undefined || !name.every(isName) || !name.flatMap(wordsOfName).some(isTelling))
    return undefined;
  const words = wordsIn(text);
  const isOther = (word: string, nr: number) =>
    isNumber(word) && word !== value && isName(words[nr - 1] ?? value);
  return words.some(isOther) ? undefined : value;
}

/** The words of each clause, whatever the form of the answer. */
function clausesOf(answer: Answered): readonly (readonly string[])[] {
  const { records } = listedIn(answer);
  const texts =
    records.length > 0
      ? records.flatMap((record) => record.map(([, value]) => String(value)))
      : [answer.text];
  return texts.flatMap((text) => text.split(CLAUSE)).map((clause) => clause.match(TOKEN) ?? []);
}
