/**
 * What a yes allows beyond the call that was asked about, for the rest of the turn: at the same owner, in a step that the person asked
 * for and that takes nothing away, the same thing again, what the allowed calls made, and the code that was sent to confirm that.
 */
import { wordsOfName } from "../../../kernel/kit/words.ts";
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

function fieldOf(record: AnswerRecord, param: string): Scalar | undefined {
  return record.find(([field, , isListed]) => !isListed && sameName(field, lastOf(param)))?.[1];
}

/**
 * What the answer of a call says that it made: in its own fields, and not in what these hold. In prose anyone may have written it. Where
 * fields are lines, the text in one may have brought the next along, so that only the first counts.
 */
export function givenBy(text: string, param: string, subjects: ReadonlySet<string>): string | undefined {
  const isList = /^\s*(?:\[|- )/.test(text);
  const [record] = isList ? [] : listedIn({ text }).records;
  if (record === undefined) return undefined;
  const words = wordsOfName(lastOf(param));
  const isBare =
    words.length > 1 && words.at(-1) === "id" && words.slice(0, -1).every((word) => subjects.has(word));
  const own = text.trimStart().startsWith("{") ? record : record.slice(0, 1);
  const found = fieldOf(own, param) ?? (isBare ? fieldOf(own, "id") : undefined);
  return found === undefined ? undefined : String(found);
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
