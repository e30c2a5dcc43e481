import type { Catalogue } from "../en/en.ts";
import { dateTime, plural } from "../language.ts";

export const jobs: Catalogue["jobs"] = {
  job: "Auftrag",
  all: "Alle Aufträge",
  status: "Status",
  statuses: {
    "": "Alle",
    queued: "Eingereiht",
    running: "Laufend",
    completed: "Fertig",
    failed: "Fehlgeschlagen",
  },
  states: {
    queued: "eingereiht",
    running: "läuft",
    completed: "fertig",
    failed: "fehlgeschlagen",
    cancelled: "abgebrochen",
  },
  waitsFor: (what) => `wartet auf ${what}`,
  columns: { created: "Angelegt", user: "Person", status: "Status", question: "Frage und Antwort" },
  noText: "(kein Text)",
  earlier: "Frühere Aufträge",
  none: "Noch keine Aufträge",
  noneNote:
    "Ein Auftrag ist eine Nachricht, die ein Programm an den Webhook schickt. Er erscheint hier mit seiner Antwort.",
  noneOperator: "Lege zuerst unter Webhooks eine Integration an.",
  openWebhooks: "Webhooks öffnen",
  noneOf: "Kein Auftrag hat diesen Status.",
  question: "Frage",
  answer: "Antwort",
  details: "Details",
  again: "Noch einmal ausführen",
  cancel: "Abbrechen",
  openThread: "Unterhaltung öffnen",
  notPaired: "Die Identität, von der er kommt, ist noch nicht zugeordnet: siehe Webhooks.",
  noAnswer: "Noch keine Antwort.",
  facts: {
    job: "Auftrag",
    user: "Person",
    conversation: "Gespräch",
    thread: "Unterhaltung",
    created: "Angelegt",
    started: "Begonnen",
    completed: "Beendet",
    attempts: "Versuche",
    error: "Fehler",
    callback: "Rückruf",
  },
  callback: {
    waiting: "wird gesendet, wenn der Auftrag fertig ist",
    retrying: (attempts, why, next) =>
      `nach ${tries(attempts)} fehlgeschlagen (${why}); nächster Versuch ${next && dateTime(next)}`,
    delivered: (attempts) => `nach ${tries(attempts)} zugestellt`,
    failed: (attempts, why) => `nach ${tries(attempts)} aufgegeben (${why})`,
  },
};

function tries(count: number): string {
  return plural(count, { one: "# Versuch", other: "# Versuchen" });
}
