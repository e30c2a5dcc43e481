/** The texts of this view, in its language. The other languages are not loaded. */
import type { Catalogue } from "./en/en.ts";
import { type Language, language } from "./language.ts";

const load: Readonly<Record<Language, () => Promise<Catalogue>>> = {
  en: async () => (await import("./en/en.ts")).en,
  de: async () => (await import("./de/de.ts")).de,
};

// Awaited here, so that every module that imports the texts has them when it begins.
export const text: Catalogue = await load[language]();
