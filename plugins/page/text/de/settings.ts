import type { Catalogue } from "../en/en.ts";
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
