import type { Catalogue } from "../en/en.ts";
import { plural } from "../language.ts";

export const state: Catalogue["state"] = {
  unreachable:
    "Postern ist nicht erreichbar. Dein Entwurf ist gespeichert; versuche es wieder, sobald die Verbindung steht.",
  uploadInterrupted: "Das Hochladen wurde unterbrochen. Entferne die Datei und versuche es noch einmal.",
  cancelled: "Abgebrochen.",
  tryAgainIn: (words, seconds) => `${words} (neuer Versuch in ${seconds} s möglich)`,
  showingVersion: "Eine andere Version wird gezeigt.",
  earlierLoaded: (count) =>
    plural(count, { one: "# frühere Antwort oben geladen.", other: "# frühere Antworten oben geladen." }),
  declined: "Abgelehnt.",
  done: "Erledigt.",
  answering: "Postern antwortet.",
  stopped: "Gestoppt.",
  complete: "Die Antwort ist fertig.",
  failed: (why) => `Die Antwort ist fehlgeschlagen: ${why}`,
  hasQuestion: (server) => `${server} hat eine Frage an dich.`,
  waiting: (why) => `Postern wartet auf deine Entscheidung${why === "" ? "." : `: ${why}`}`,
  notifications: {
    waiting: "Wartet auf dich",
    failed: "Die Antwort ist fehlgeschlagen",
    ready: "Die Antwort ist fertig",
  },
};
