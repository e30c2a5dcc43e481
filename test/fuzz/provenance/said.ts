/** What a person said, as far as the sentences of `cases.ts` go. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
/** True where the words of one stand in a row in the other. */
export const isRowOf = (row: string, text: string): boolean =>
  wordsOf(row).length > 0 && ` ${wordsOf(text).join(" ")} `.includes(` ${wordsOf(row).join(" ")} `);

export interface Moments {
  readonly days: readonly string[];
  readonly clocks: readonly string[];
  readonly hours: readonly number[];
}
export const momentsIn = (text: string): Moments => ({
  days: text.match(/\d{4}-\d\d-\d\d/g) ?? [],
  clocks: text.match(/\b\d\d:\d\d\b/g) ?? [],
  hours: [...text.matchAll(/\b(\d) hours/g)].map(([, count]) => Number(count)),
});

/** `beside`: the other values of the call, one of which may be when it starts. */
export function isMoment(
  value: string,
  beside: readonly string[],
  { days, clocks, hours }: Moments,
): boolean {
  const [, day = "", clock] = /^(\S+)(?: (\d\d:\d\d))?$/.exec(value) ?? [];
  if (!days.includes(day)) return false;
  if (clock === undefined || clocks.includes(clock)) return true;
  const later = (start: string, count: number) => `${Number(start.slice(0, 2)) + count}${start.slice(2)}`;
  const starts = beside.map((other) => other.slice(-5)).filter((start) => clocks.includes(start));
  return starts.some((start) => hours.some((count) => later(start, count) === clock));
}

const DATE = /\d{4}-\d\d-\d\d|\d\d:\d\d|[A-Z]{2}\d{10,}/g;
const NUMBER = /(?<![\w.@-])\d+(?:\.\d+)?(?![\w@-])/g;
const isOneCase = (name: string) =>
  [name.toLowerCase(), name.toUpperCase()].includes(name) || /^[A-Z][a-z]*(?: [A-Z][a-z]*)*$/.test(name);

export type Said = ReturnType<typeof listen>;

export function listen(person: readonly string[]) {
  const rows = person.map(wordsOf);
  const written = new Set(person.flatMap((text) => text.match(/[\p{L}\p{N}]+/gu) ?? []));
  const isAfterNot = (row: readonly string[], at: number) =>
    row.slice(Math.max(0, at - 3), at).includes("not");
  const asked = new Set(rows.flatMap((row) => row.filter((_, at) => !isAfterNot(row, at))));
  // Whom they said not to write to, they have not named.
  const wanted = person.map((text) => text.replace(/\bnot\b.*?(?:[.,](?= |$)|$)/gi, " ; "));

  /** What stands before a name wherever it is named. A word of a quotation names nobody, unless it is all of it. */
  const places = (name: string): string[] => {
    const isBare = /^[a-z\s-]+$/i.test(name);
    const isKept = (quoted: string) => !isBare || quoted.length === name.length + 2;
    return wanted
      .map((text) => text.replace(/'[^']* [^']*'/g, (quoted) => (isKept(quoted) ? quoted : " ; ")))
      .flatMap((text) =>
        [...text.matchAll(new RegExp(name.replace(/[^\w\s]/g, "\\$&"), "gi"))].flatMap(
          ({ 0: found, index }) => {
            const [before, after] = [text.slice(0, index), text.slice(index + name.length)];
            const isAlone =
              /(?:^|[\s'(:,;#@])$/.test(before) && /^(?:$|[\s'),;!?]|[.:](?:\s|'|$))/.test(after);
            const isWritten = found === name || (isOneCase(name) && !/^www\./i.test(name));
            return isAlone && isWritten ? [before] : [];
          },
        ),
      );
  };
  const isPlain = (text: string) =>
    !text.includes("\u200b") &&
    (text.match(/[\p{L}\p{N}]+/gu) ?? []).every((word) => written.has(word) || isOneCase(word));

  return {
    texts: person,
    asked,
    words: new Set(rows.flat()),
    moments: momentsIn(person.join("\n")),
    numbers: person.flatMap((text) => text.replace(DATE, ";").match(NUMBER) ?? []).map(Number),
    isPlain,
    isRow: (text: string) => isPlain(text) && person.some((one) => isRowOf(text, one)),
    wrote: (name: string) => name.trim() === name && places(name).length > 0,
    isSender: (name: string) =>
      places(name).length > 0 &&
      places(name).every((before) => /\bfrom $/i.test(before)) &&
      !["reply", "answer"].some((word) => asked.has(word)),
  };
}
