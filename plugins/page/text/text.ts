/** The texts of this view, in its language. The other languages are not loaded. */
import type { Catalogue } from "./catalogue.ts";
import { type Language, language } from "./language.ts";

const load: Readonly<Record<Language, () => Promise<Catalogue>>> = {
  en: () => import("./en/en.ts"),
  de: () => import("./de/de.ts"),
};

// Awaited here, so that every module that imports the texts has them when it begins.
export const text: Catalogue = await load[language]();
