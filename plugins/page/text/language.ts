/** Which language this browser shows, and its numbers, plurals, dates and lists. The texts themselves are loaded by `text.ts`. */

/** The languages there are, each with its own name for itself. */
export const LANGUAGES = { en: "English", de: "Deutsch" } as const;

export type Language = keyof typeof LANGUAGES;

/** "system" is the browser's preference. */
export type LanguageChoice = Language | "system";

const KEY = "postern.language";

const isLanguage = (name: string): name is Language => Object.hasOwn(LANGUAGES, name);

const preferred = globalThis.document === undefined ? ["en"] : navigator.languages;
const inLanguage = (one: Language) => preferred.find((locale) => locale.split("-")[0] === one);

function languageOf(choice: string | null): Language {
  if (choice !== null && isLanguage(choice)) return choice;
  return preferred.map((locale) => locale.split("-")[0] ?? "").find(isLanguage) ?? "en";
}

/** The language of this view. */
export const language = languageOf(globalThis.document === undefined ? null : localStorage.getItem(KEY));

/** With the region that the browser names for it: "en-GB" has other dates than "en-US". */
const locale = inLanguage(language) ?? language;

// Browsers that cannot say the direction have no right-to-left language to show here.
if (globalThis.document !== undefined)
  Object.assign(document.documentElement, {
    lang: locale,
    dir: new Intl.Locale(locale).getTextInfo?.().direction ?? "ltr",
  });

/** What this person has chosen on this browser. */
export function chosenLanguage(user: string): LanguageChoice {
  const kept = localStorage.getItem(`${KEY}.${user}`) ?? "";
  return isLanguage(kept) ? kept : "system";
}

/** Keeps the choice for this person, and shows it. */
export function chooseLanguage(user: string, choice: LanguageChoice): void {
  localStorage.setItem(`${KEY}.${user}`, choice);
  followLanguageOf(user);
}

/** Before anybody is signed in the last person's choice is shown; another person's may differ, which takes a reload. */
export function followLanguageOf(user: string): void {
  const choice = chosenLanguage(user);
  localStorage.setItem(KEY, choice);
  if (languageOf(choice) !== language) location.reload();
}

const rules = new Intl.PluralRules(locale);
const wholes = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const lists = {
  and: new Intl.ListFormat(locale, { type: "conjunction" }),
  or: new Intl.ListFormat(locale, { type: "disjunction" }),
};

type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

/** `plural(2, { one: "# file", other: "# files" })` is "2 files". */
export const plural = (count: number, forms: Forms): string =>
  (forms[rules.select(count)] ?? forms.other).replace("#", () => wholes.format(count));

export const whole = (value: number): string => wholes.format(value);

export const percent = (share: number): string =>
  new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 }).format(share);

/** US dollars. A turn can cost less than a cent. */
export function dollars(value: number): string {
  const digits = value === 0 || value >= 1 ? 2 : 4;
  return new Intl.NumberFormat(locale, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(value);
}

export const bytes = (count: number): string => {
  if (count < 1000) return unit(count, "byte", "long");
  if (count < 1_000_000) return unit(count / 1000, "kilobyte");
  return count < 1_000_000_000
    ? unit(count / 1_000_000, "megabyte")
    : unit(count / 1_000_000_000, "gigabyte");
};

/** How long something took. */
export function duration(millis: number): string {
  if (millis < 1000) return unit(Math.round(millis), "millisecond", "narrow");
  return millis < 60_000 ? unit(millis / 1000, "second", "narrow") : unit(millis / 60_000, "minute");
}

function unit(value: number, name: string, unitDisplay: "short" | "long" | "narrow" = "short"): string {
  return new Intl.NumberFormat(locale, {
    style: "unit",
    unit: name,
    unitDisplay,
    maximumFractionDigits: 1,
  }).format(value);
}

export const list = (items: readonly string[], joined: "and" | "or" = "and"): string =>
  lists[joined].format(items);

type Moment = string | number | Date;

export const formatDate = (moment: Moment, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(locale, options).format(new Date(moment));

export const shortDate = (moment: Moment): string => formatDate(moment, { dateStyle: "medium" });

/** A date with its time, as a row of a table shows it. */
export const dateTime = (moment: Moment): string =>
  formatDate(moment, { dateStyle: "medium", timeStyle: "short" });

/** With its seconds, for the title of what is shown in short, and for logs. */
export const exactTime = (moment: Moment): string =>
  formatDate(moment, { dateStyle: "medium", timeStyle: "medium" });

export const dateOnly = (moment: Moment): string => formatDate(moment, { dateStyle: "medium" });

const STEPS = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** "5 minutes ago", "in 3 days". */
export function relativeTime(moment: Moment, now = Date.now()): string {
  const seconds = (new Date(moment).getTime() - now) / 1000;
  const format = new Intl.RelativeTimeFormat(locale, { numeric: "auto" });
  const [step, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return format.format(Math.round(seconds / size), step);
}
