import type { Catalogue } from "../en/en.ts";

export const pages: Catalogue["pages"] = {
  chat: "Chat",
  tools: "Werkzeuge",
  jobs: "Aufträge",
  routines: "Routinen",
  files: "Dateien",
  memory: "Gedächtnis",
  usage: "Verbrauch",
  people: "Personen",
  channels: "Kanäle",
  webhooks: "Webhooks",
  logs: "Protokoll",
  settings: "Einstellungen",
};
