import type { Catalogue } from "../catalogue.ts";
import { plural } from "../language.ts";

export const settings: Catalogue["settings"] = {
  model: "Modell",
  modelNote: "Wer antwortet, und mit welchem Schlüssel.",
  test: "Testen",
  testing: "Wird getestet …",
  testNote: "Schickt eine kurze Anfrage mit dem, was hier steht, gespeichert oder nicht.",
  moreModel: "Mehr zum Modell",
  limits: "Ausgaben und Grenzen",
  approvals: "Freigaben",
  others: "Weitere",
  theme: "Farbschema",
  themeNote: "Nur für diesen Browser.",
  unsaved: "nicht gespeichert",
  reset: "Zurücksetzen",
  resetOf: (title) => `${title} zurücksetzen`,
  removeOf: (title) => `${title} entfernen`,
  removedOnSave: "Wird beim Speichern entfernt.",
  wrong: (title, message) => `${title}: ${message}`,
  notUsed: (problem) => `Der gespeicherte Wert wird nicht benutzt: ${problem}`,
  fixedIn: {
    env: "Steht in einer .env-Datei und lässt sich nur dort ändern.",
    environment: "Steht in der Umgebung des Dienstes und lässt sich nur dort ändern.",
  },
  default: (value) => `Standard: ${value}`,
  notSet: "nicht gesetzt",
  set: "gesetzt",
  setEndsIn: (hint) => `gesetzt, endet auf ${hint}`,
  yes: "Ja",
  no: "Nein",
  none: "keiner",
  saving: "Wird gespeichert …",
  discard: "Verwerfen",
  cannotSave: (count) =>
    plural(count, {
      one: "# Einstellung kann nicht gespeichert werden.",
      other: "# Einstellungen können nicht gespeichert werden.",
    }),
  fixMarked: "Nicht gespeichert: Korrigiere, was oben markiert ist.",
  holds: "Eine Änderung gilt ab der nächsten Nachricht, auf jedem Knoten.",
  unsavedCount: (count) =>
    plural(count, {
      one: "# Änderung ist nicht gespeichert.",
      other: "# Änderungen sind nicht gespeichert.",
    }),
  providers: {
    auto: "Automatisch",
    builtin: "Eingebaut, ohne Sprachmodell",
    openai: "OpenAI",
    anthropic: "Anthropic",
    google: "Google",
    ollama: "Ollama",
    "openai-compatible": "OpenAI-kompatibler Server",
    none: "Keiner",
  },
  provenance: { ask: "Zuerst fragen", deny: "Aufruf ablehnen", off: "Nicht prüfen" },
  names: {
    MODEL_PROVIDER: {
      title: "Anbieter",
      help: "Wessen Modell antwortet. Automatisch nimmt den ersten, der eingerichtet ist.",
    },
    MODEL_NAME: { title: "Modell", help: "Der Name des Modells. Testen zeigt, welche es gibt." },
    MODEL_BASE_URL: {
      title: "Adresse des Servers",
      help: "Die Adresse deines Servers, zum Beispiel http://127.0.0.1:11434.",
    },
    MODEL_API_KEY: {
      title: "Schlüssel des Servers",
      help: "Der Schlüssel, den dieser Server erwartet, falls einer nötig ist.",
    },
    ANTHROPIC_API_KEY: {
      title: "Anthropic-Schlüssel",
      help: "Von console.anthropic.com; er beginnt mit sk-ant-.",
    },
    OPENAI_API_KEY: { title: "OpenAI-Schlüssel", help: "Von platform.openai.com; er beginnt mit sk-." },
    MODEL_CONTEXT_TOKENS: {
      title: "Kontextfenster",
      help: "Wie viele Tokens das Modell höchstens liest, falls sein Name das nicht verrät.",
    },
    MODEL_INPUTS: {
      title: "Eingaben",
      help: "Was das Modell annimmt, falls sein Name das nicht verrät: text, image, audio, file, mit Kommas.",
    },
    MODEL_FALLBACK_PROVIDER: {
      title: "Ersatz: Anbieter",
      help: "Wer antwortet, wenn das erste Modell es nicht tut.",
    },
    MODEL_FALLBACK_NAME: { title: "Ersatz: Modell", help: "Der Name dieses Modells." },
    MODEL_FALLBACK_BASE_URL: {
      title: "Ersatz: Adresse des Servers",
      help: "Die Adresse des Servers dieses Modells.",
    },
    MODEL_FALLBACK_API_KEY: { title: "Ersatz: Schlüssel", help: "Der Schlüssel dafür." },
    CHAT_TITLES: {
      title: "Titel für Chats",
      help: "Das Modell benennt einen Chat nach seiner ersten Antwort.",
    },
    DAILY_USD_CAP: {
      title: "Ausgabengrenze",
      help: "US-Dollar, die jede Person am Tag (UTC) für Modelle ausgeben darf. Leer: keine Grenze.",
    },
    CHAT_RATE_LIMIT: {
      title: "Nachrichten pro Minute",
      help: "Wie viele Nachrichten jede Person senden darf.",
    },
    HTTP_RATE_LIMIT: {
      title: "Webhook-Anfragen pro Minute",
      help: "Wie viele Anfragen eine Adresse an den Webhook senden darf.",
    },
    TURN_MAX_TOOL_CALLS: {
      title: "Werkzeugaufrufe pro Antwort",
      help: "Nach so vielen Aufrufen wird eine Antwort abgebrochen: Das Modell dreht sich vielleicht im Kreis.",
    },
    TURN_IDLE_SECS: {
      title: "Längste Stille",
      help: "Nach so vielen Sekunden ohne Lebenszeichen wird eine Antwort abgebrochen.",
    },
    TOOL_APPROVALS: {
      title: "Freigaben",
      help: "Welche Werkzeuge ohne Rückfrage laufen, zuerst fragen oder nie laufen, zum Beispiel weather=allow, mail=deny. Sonst fragt, was etwas ändern kann.",
    },
    PROVENANCE: {
      title: "Werte von anderen",
      help: "Was geschieht, wenn ein Werkzeug mit einer Adresse oder einem Text aufgerufen wird, der nicht von der Person stammt, sondern zum Beispiel von einer Webseite oder aus einer Mail.",
    },
    TRUSTED_SOURCES: {
      title: "Vertraute Quellen",
      help: "Werkzeuge, deren Ausgabe wie die eigenen Worte der Person zählt, mit Kommas; MCP-Server als mcp:name.",
    },
  },
};

export const usage: Catalogue["usage"] = {
  time: "Zeitraum",
  ranges: { 1: "24 Stunden", 7: "7 Tage", 30: "30 Tage", 90: "90 Tage" },
  by: "Nach",
  byGroup: { model: "nach Modell", tool: "nach Werkzeug", channel: "nach Kanal", user: "nach Person" },
  others: "alle anderen",
  storage: (used, most) => `Du belegst ${used} von ${most}`,
  answered: (count, share, time) =>
    plural(count, {
      one: `Du hast # Frage beantwortet, ${share} davon mit Ja, die Hälfte innerhalb von ${time}.`,
      other: `Du hast # Fragen beantwortet, ${share} davon mit Ja, die Hälfte innerhalb von ${time}.`,
    }),
  hasty:
    "Das ist schnell. Schau kurz hin, wohin etwas geht und was darin steht: Nur du kannst sagen, ob es stimmt.",
  none: "In dieser Zeit wurde nichts gefragt",
  noneNote:
    "Wähle einen längeren Zeitraum oder beginne einen Chat: Jede Antwort zählt hier, mit ihren Tokens, ihren Kosten und den Werkzeugen, die sie aufgerufen hat.",
  turns: "Antworten",
  failedTurns: "Fehlgeschlagene Antworten",
  tokens: "Tokens",
  cost: "Kosten",
  estimated: (cost: string, estimate: string) => `${cost} (${estimate} für das Limit geschätzt)`,
  saved: "Durch den Cache gespart",
  savedOf: (saved, share) => `${saved} (${share} der Eingabe war im Cache)`,
  calls: "Werkzeugaufrufe",
  failedCalls: "Fehlgeschlagene Aufrufe",
  failedToolCalls: "Fehlgeschlagene Werkzeugaufrufe",
  turnsBy: {
    model: "Antworten nach Modell",
    tool: "Antworten nach Werkzeug",
    channel: "Antworten nach Kanal",
    user: "Antworten nach Person",
  },
  callsBy: {
    model: "Werkzeugaufrufe nach Modell",
    tool: "Werkzeugaufrufe nach Werkzeug",
    channel: "Werkzeugaufrufe nach Kanal",
    user: "Werkzeugaufrufe nach Person",
  },
  timeToAnswer: "Zeit bis zur Antwort",
  timeOfCall: "Dauer eines Werkzeugaufrufs",
  halfTook: "die Hälfte dauerte höchstens",
  mostTook: "95 % dauerten höchstens",
  counted:
    "Antworten zählen, solange ihre Unterhaltungen gespeichert sind; Werkzeugaufrufe aus den neuesten 10.000 Belegen.",
  columns: {
    name: "Name",
    count: "Anzahl",
    failed: "Fehler",
    tokensIn: "Tokens rein",
    tokensOut: "Tokens raus",
    cost: "Kosten",
    half: "Hälfte bis",
    most: "95 % bis",
  },
  noneInTime: "Keine in dieser Zeit.",
  chartLabel: (title, most) => `${title} im Verlauf, höchstens ${most}; die Tabelle darunter hat die Zahlen`,
  asTable: (title) => `${title} als Tabelle`,
  when: "Wann",
};

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
