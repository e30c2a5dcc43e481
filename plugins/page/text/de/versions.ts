import type { Catalogue } from "../en/en.ts";
import { dateTime } from "../language.ts";

export const versions: Catalogue["versions"] = {
  title: "Versionen",
  version: (number) => `Version ${number}`,
  versionAt: (number, at) => `Version ${number}, ${dateTime(at)}`,
  compare: "Vergleiche",
  with: "mit",
  show: "Unterschiede zeigen",
  fromTo: (from, to) => `Von Version ${from} zu Version ${to}`,
  same: (from, to) => `Version ${from} und Version ${to} haben denselben Text.`,
  legend: (from, to) =>
    `Von Version ${from} zu Version ${to}: Zeilen mit − wurden entfernt, Zeilen mit + sind neu.`,
  now: "jetzt",
  restore: "Wiederherstellen",
  restoreOf: (number) => `Version ${number} wiederherstellen`,
  restored: (number) => `Version ${number} ist wiederhergestellt`,
  download: "Herunterladen",
  downloadOf: (number) => `Version ${number} herunterladen`,
  openThread: "Unterhaltung öffnen",
  from: (origins) => `, aus ${origins}`,
};
