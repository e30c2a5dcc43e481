/** Values that the person did not write, but said where they stand: a contact's address, an event's participants, the largest file. */
import { foldedWords, stem, wordsOfName } from "../../../kernel/kit/words.ts";
import { type AnswerRecord, listsThings } from "../outputs/records.ts";
import { listedIn, type SaidText } from "../outputs/search.ts";
import { isSameDay, momentsIn, readMoment } from "../person/dates.ts";
import { trimMarks } from "../person/identifiers.ts";
import type { Said } from "../person/utterances.ts";
import params from "../words/params.json" with { type: "json" };
import requests from "../words/requests.json" with { type: "json" };
import type { Leaf } from "./param-values.ts";
import { subjectsOf, wantedBy } from "./requested-action.ts";

interface Given extends SaidText {
  readonly owner: string;
  readonly tool?: string;
  readonly asked: unknown;
}

const COMPANY = new Set(params.company.split(" "));
const SIZE = new Set(params.size.split(" "));
const EXTREMES = [
  [requests.largest.split(" "), Math.max],
  [requests.smallest.split(" "), Math.min],
] as const;
const TITLE = /^(?:name|title|subject|summary)$/i;
const E_MAIL = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}.-]{1,255}/gu;
const REPLY_WORDS = requests.reply.split(" ");

type PointsIn<One> = (lists: readonly One[], isFit: (record: AnswerRecord) => boolean) => boolean;

/** Only what the call's own server or tool lists counts: it could look names up by itself. */
export function createResolver<One extends Given>(
  called: { readonly name: string; readonly owner: string },
  said: Said,
  heard: readonly One[],
) {
  const lists = heard.filter(({ owner, tool = owner }) => owner === called.owner && listsThings(tool));
  const isTheirs = (text: string) => said.hasPhrase(text) || said.hasMoment(text, []);
  // A stranger who chooses what is searched for chooses what is found.
  const searched = lists.filter(({ asked }) => textsOf(asked).every(isTheirs));

  const isTitled = (record: AnswerRecord) =>
    record.some(([field, value]) => TITLE.test(field) && said.hasPhrase(String(value)));

  return {
    /** The address of the one contact of this name: a first and a last name that the person wrote. */
    isContact({ value }: Leaf): boolean {
      const records = searched
        .filter(({ owner, tool = owner }) => subjectsOf(tool, owner).has("contact"))
        .flatMap((one) => listedIn(one).records);
      const isNamed = (record: AnswerRecord) => {
        const name = nameOf(record);
        const isSender = said.isSender(name) && !REPLY_WORDS.some((word) => said.asked.has(word));
        return foldedWords(name).length > 1 && said.hasName(name) && !isSender;
      };
      return records.some((record) => {
        const alike = records.filter((other) => same(nameOf(other), nameOf(record)));
        return isNamed(record) && alike.every((one) => addressesOf(one).join() === value);
      });
    },
    /** One of those who are in the thing that the person named, where they named them too: "the same participants as". */
    isOfNamed({ name }: Leaf, isPointedTo: PointsIn<One>): boolean {
      const last = wordsOfName(name).at(-1) ?? "";
      return (
        COMPANY.has(last) &&
        wantedBy(said).has(stem(last)) &&
        [lists, searched].every((given) => isPointedTo(given, isTitled))
      );
    },
    /** The only address on a page on which the person said that it is to be found. */
    isOnPage({ value }: Leaf): boolean {
      return said.addressPages.some((page) => {
        const texts = heard.filter(({ asked }) => textsOf(asked).join() === page).map(({ text }) => text);
        const found = new Set(texts.flatMap((text) => text.match(E_MAIL) ?? []).map(trimMarks));
        return found.size === 1 && found.has(String(value));
      });
    },
    /** The largest or smallest of all that were listed, where the person asked for it: "the largest file". */
    isExtreme({ name, value }: Leaf): boolean {
      const whole = lists.filter(({ asked }) => textsOf(asked).length === 0);
      const subjects = wordsOfName(called.name).filter((word) =>
        subjectsOf(called.name, called.owner).has(stem(word)),
      );
      const last = wordsOfName(name).at(-1) ?? "";
      return subjects.some((subject) => {
        const about = whole.filter(({ owner, tool = owner }) => subjectsOf(tool, owner).has(stem(subject)));
        const sized = about.flatMap((one) => listedIn(one).records).flatMap(sizedIn);
        return EXTREMES.some(([words, extreme]) => {
          if (!words.some((word) => said.hasPhrase(`${word} ${subject}`))) return false;
          const most = extreme(...sized.map(({ size }) => size));
          const ids = new Set(
            sized.filter(({ size }) => size === most).map(({ record }) => idOf(record, last)),
          );
          return sized.length > 1 && ids.size === 1 && ids.has(String(value));
        });
      });
    },
  };
}

/** True for a day and time that stand in a text, or that are as long after one as the person said. */
export function isMomentIn(
  value: string,
  beside: readonly string[],
  read: readonly SaidText[],
  { durations }: Pick<Said, "durations">,
): boolean {
  const moment = readMoment(value);
  if (moment?.day === undefined) return false;
  const { day, time } = moment;
  return read.some(({ text }) => {
    const { days, times } = momentsIn(text.toLowerCase().replace(/\s+/gu, " "));
    if (!days.some((one) => isSameDay(day, one))) return false;
    if (time === undefined || times.includes(time)) return true;
    return beside.some((other) => {
      const from = readMoment(other)?.time;
      return from !== undefined && times.includes(from) && durations.includes(time - from);
    });
  });
}

const same = (one: string, other: string) => foldedWords(one).join(" ") === foldedWords(other).join(" ");

function nameOf(record: AnswerRecord): string {
  const [, name = ""] = record.find(([field]) => /^(?:full_?|display_?)?name$/i.test(field)) ?? [];
  return String(name);
}

function addressesOf(record: AnswerRecord): readonly string[] {
  return record.flatMap(([, value]) => (String(value).includes("@") ? [String(value)] : []));
}

function sizedIn(record: AnswerRecord): readonly { readonly record: AnswerRecord; readonly size: number }[] {
  const [, value] = record.find(([field]) => SIZE.has(wordsOfName(field).at(-1) ?? "")) ?? [];
  const size = value === "" ? Number.NaN : Number(value);
  return Number.isFinite(size) ? [{ record, size }] : [];
}

function idOf(record: AnswerRecord, last: string): string | undefined {
  const [, value] = record.find(([field]) => wordsOfName(field).at(-1) === last) ?? [];
  return value === undefined ? undefined : String(value);
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}
