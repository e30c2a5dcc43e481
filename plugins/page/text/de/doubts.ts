/** Why a call is asked about, worded from the parts that the service sends. */
import type { Doubt, DoubtReason, PlannedStep } from "../../api.ts";

type Words = Pick<Doubt, "sentence" | "headline" | "source">;

export function doubtWords(doubt: Doubt): Words {
  const { reason, rule, param, value, part = "…" } = doubt;
  if (!reason) return doubt;
  const { tool, why, count = 0 } = reason;
  if (why === "more") return { sentence: `${tool}: ${count} weitere Werte stammen nicht von dir` };
  if (why === "unasked") return asked(tool, "Darum hast du nicht gebeten, oder nicht noch einmal");
  const source = reason.source && nameOf(reason.source);
  // A receipt keeps no value.
  const shown = value || "…";
  const act = rule === "destination" ? `${tool} an ${shown}` : `${tool} mit ${param} „${shown}“`;
  return { ...asked(act, whyOf(reason, part, source)), ...(source !== undefined && { source }) };
}

const asked = (act: string, why: string): Words => ({
  sentence: `${act}: ${why}`,
  headline: `${act}? ${why}.`,
});

const NOUNS = {
  address: "Diese Adresse",
  link: "Dieser Link",
  account: "Diese Kontonummer",
  number: "Diese Zahl",
  text: "Dieser Text",
  destination: "Dieses Ziel",
};

function whyOf({ why, noun = "text", count = 0 }: DoubtReason, part: string, source = ""): string {
  const named = NOUNS[noun];
  const made = `Das Modell hat diesen Link zusammengesetzt, und „${part}“`;
  switch (why) {
    case "limit":
      return `In dieser Runde wurden schon ${count} Links ohne Frage verfolgt, und ${lower(named)} stammt nicht von dir, sondern aus anderer Quelle: ${source}`;
    case "part_source":
      return `${made} stammt nicht von dir, sondern aus anderer Quelle: ${source}`;
    case "part_unsaid":
      return `${made} hast du zu dieser Seite nicht gesagt`;
    case "source":
      return `${named} stammt nicht von dir, sondern aus anderer Quelle: ${source}`;
    default:
      return `${named} stammt nicht von dir${source && `; zuletzt wurde gelesen: ${source}`}`;
  }
}

/** Whose a value of a planned step is; as the service words it where it was stored without parts. */
export function whoseWords({ from, why, source }: PlannedStep["values"][number]): string | undefined {
  switch (why) {
    case "source":
      return source ? `nicht von dir, sondern: ${nameOf(source)}` : from;
    case "unsaid":
      return "nicht von dir";
    case "earlier":
      return "wird von einem früheren Schritt ausgefüllt";
    case "later":
      return "danach wird einzeln gefragt, wenn es so weit ist";
    default:
      return from;
  }
}

const lower = (words: string): string => words.charAt(0).toLowerCase() + words.slice(1);

function nameOf({ kind, name, place, tool }: NonNullable<DoubtReason["source"]>): string {
  switch (kind) {
    case "page":
      return tool === undefined ? name : `${name} (gelesen von ${tool})`;
    case "tool":
      return place === undefined ? `die Ausgabe von ${name}` : `${place} (gelesen von ${name})`;
    case "server":
      return place === undefined
        ? `der MCP-Server ${name}`
        : `${place} (gelesen über den MCP-Server ${name})`;
    case "caller":
      return `die verbundene App (${name})`;
    case "outside":
      return `jemand von außen (${name})`;
    case "file":
      return `die Datei ${name}`;
    case "memory":
      return `das Gedächtnisdokument ${name}, das aus Worten anderer entstand`;
    case "skill":
      return `die Fähigkeit ${name}, die von woanders kam`;
    case "model":
      return "Text eines Modells";
  }
}
