/** The words of a schedule, one after the other: every one is looked at once or twice, so that it takes linear time. */
import { isDate, type LocalDate } from "./zone.ts";

export type Cursor = ReturnType<typeof cursorOf>;

const DIGITS = /^\d{1,6}$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const ORDINAL = /^(\d{1,2})(?:st|nd|rd|th)$/;

export function cursorOf(text: string) {
  // "2026-12-24T09:00" is a date and a time; a comma stands for "and".
  const words = text
    .toLowerCase()
    .split(/[\s,]+/)
    .flatMap((word) => (/^\d{4}-\d{2}-\d{2}t\d/.test(word) ? [word.slice(0, 10), word.slice(11)] : [word]))
    .filter((word) => word !== "");
  let at = 0;

  /** Passes a word that this makes something of. */
  function read<Value>(make: (word: string) => Value | undefined): Value | undefined {
    const made = make(words[at] ?? "");
    if (made !== undefined) at++;
    return made;
  }

  return {
    get isAtEnd(): boolean {
      return at === words.length;
    },
    peek: (): string | undefined => words[at],
    next: (): string | undefined => words[at++],
    /** Passes the word where it is one of these. */
    take: (...expected: readonly string[]): boolean =>
      read((word) => (expected.includes(word) ? true : undefined)) ?? false,
    number: (): number | undefined => read((word) => (DIGITS.test(word) ? Number(word) : undefined)),
    /** The value of a unit, also in the plural. */
    unit: (units: Readonly<Record<string, number>>): number | undefined =>
      read((word) => {
        const singular = word.endsWith("s") ? word.slice(0, -1) : word;
        return Object.hasOwn(units, singular) ? units[singular] : undefined;
      }),
    ordinal: (): number | undefined =>
      read((word) => {
        const day = Number(ORDINAL.exec(word)?.[1] ?? 0);
        return day >= 1 && day <= 31 ? day : undefined;
      }),
    date: (): LocalDate | undefined =>
      read((word) => {
        const match = DATE.exec(word);
        if (match === null) return undefined;
        const [year = 0, month = 0, day = 0] = match.slice(1).map(Number);
        return isDate({ year, month, day }) ? { year, month, day } : undefined;
      }),
    /** Any word that this makes something of. */
    read,
  };
}
