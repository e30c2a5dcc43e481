import type { Catalogue } from "../en/en.ts";
import { plural } from "../language.ts";

export const channels: Catalogue["channels"] = {
  none: "Keine Chat-Kanäle",
  noneNote: "Telegram, E-Mail und Slack sind Plugins von Postern. Hier ist keins davon an.",
  connected: "verbunden",
  notConnected: "nicht verbunden",
  notSetUp: "nicht eingerichtet",
  addNote: (name) =>
    `Starte „postern channel add ${name}“ dort, wo der Dienst läuft. Es fragt nach den Geheimnissen und prüft sie.`,
  facts: {
    received: "Letzte Nachricht",
    sent: "Letzte Antwort",
    waiting: "Wartet",
    oldest: "Älteste davon",
    dead: "Nicht gesendet",
    node: "Knoten",
  },
  requests: "Wer ist das?",
  requestsNote:
    "Jemand hat geschrieben, der hier nicht bekannt ist. Verbinde ihn mit einem Konto, dann wird seine Nachricht beantwortet.",
  request: (name) => `Anfrage von ${name}`,
  asked: (code, when) => ["Code ", code, `, gefragt ${when}`],
  notAuthentic: "Der Dienst bürgt nicht für den Absender, deshalb kann er nicht verbunden werden.",
  deny: "Ablehnen",
  denied: (identity) => `${identity} ist abgelehnt`,
  paired: (identity, account) => `${identity} ist mit ${account} verbunden`,
  letters: "Noch nicht gesendet",
  lettersNote: "Antworten, die warten, nachgeschlagen werden oder nicht gesendet werden konnten.",
  noLetters: "Alles ist gesendet.",
  columns: { message: "Nachricht", to: "An", state: "Stand", tries: "Versuche" },
  states: {
    waiting: "wartet",
    sending: "wird gesendet",
    unknown: "Ausgang unbekannt",
    dead: "nicht gesendet",
  },
  next: (when) => `wieder ${when}`,
  again: "Erneut senden",
  againOf: (what) => `Erneut senden: ${what}`,
  sentAgain: "Wird erneut gesendet",
  drop: "Verwerfen",
  dropOf: (what) => `Verwerfen: ${what}`,
  dropTitle: "Diese Nachricht verwerfen?",
  dropWords: "Sie wird nie gesendet.",
  dropped: "Verworfen",
  count: (count) => plural(count, { one: "# Nachricht", other: "# Nachrichten" }),
};
