import type { Catalogue } from "../en/en.ts";

export const memory: Catalogue["memory"] = {
  newFile: "Neue Datei",
  search: "Gedächtnis durchsuchen",
  none: "Noch ist nichts gemerkt",
  noneNote:
    "Sag dem Agenten „Merke dir, dass mein Fahrrad rot ist“, oder schreib selbst eine Datei. Was hier steht, ist in jedem Chat bekannt.",
  nothingFound: "Nichts gefunden",
  nothingFoundNote: "Versuche es mit weniger oder anderen Wörtern.",
  pathExample: "notizen/garten.md",
  path: "Pfad",
  create: "Anlegen",
  textOf: (path) => `Text von ${path}`,
  back: "Zurück",
  forget: "Vergessen",
  deleteTitle: (path) => `${path} löschen?`,
  deleted: (path) => `${path} ist vergessen`,
  saved: (path) => `${path} ist gespeichert`,
  restoreTitle: (version, path) => `Version ${version} von ${path} wiederherstellen?`,
  restoreWords: "Sie wird als neueste Version gespeichert.",
  history: "Verlauf",
  by: {
    page: "auf dieser Seite geschrieben",
    api: "mit einem Token geschrieben",
    cli: "auf der Kommandozeile geschrieben",
    unknown: "von unbekannt geschrieben",
    model: "vom Modell geschrieben",
  },
  byModelOver: (channel) => `vom Modell in einer Antwort über ${channel} geschrieben`,
};
