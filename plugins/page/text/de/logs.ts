import type { Catalogue } from "../en/en.ts";
import { plural } from "../language.ts";

export const logs: Catalogue["logs"] = {
  follow: "Mitlaufen",
  level: "Mindeststufe",
  levels: {
    debug: "Ab Debug",
    info: "Ab Info",
    warn: "Ab Warnungen",
    error: "Ab Fehlern",
    fatal: "Fatal",
  },
  text: "Text",
  user: "Person",
  turn: "Antwort",
  clear: "Leeren",
  none: "Keine Zeile passt",
  noneNote:
    "Wähle eine niedrigere Stufe oder leere den Filter. LOG_LEVEL bestimmt, was überhaupt geschrieben wird.",
  lines: "Protokollzeilen, neueste zuerst",
  onlyUser: (user) => `Nur Zeilen von ${user}`,
  onlyTurn: "Nur Zeilen dieser Antwort",
  nodesAndStore: (count) => plural(count, { one: "# Knoten, Speicher", other: "# Knoten, Speicher" }),
  nodes: "Knoten, Speicher",
  columns: { node: "Knoten", version: "Version", started: "Gestartet", seen: "Zuletzt gesehen" },
  store: "Speicher",
};
