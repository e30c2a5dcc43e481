/**
 * Digests of conversations, by which a request that repeats an earlier one and its answer is known again. Clients keep
 * words, not bytes: they join texts, trim them and write arguments anew, so what is compared is what was said.
 */
import { hash } from "node:crypto";
import type { GivenItem } from "../parse/items.ts";
import { digestOf } from "./attachments.ts";

/** One thing that was said: a message, a call, an output, or what the assistant said in several messages at once. */
export interface Entry {
  readonly canon: string;
  readonly isAssistants: boolean;
  /** How many items there are up to its end. */
  readonly end: number;
}

export function entriesOf(items: readonly GivenItem[]): readonly Entry[] {
  const entries: { canon: string; isAssistants: boolean; end: number }[] = [];
  let speech: string | undefined;
  const speak = (end: number) => {
    if (speech) entries.push({ canon: JSON.stringify(["said", speech]), isAssistants: true, end });
    speech = undefined;
  };
  for (const [index, item] of items.entries()) {
    if (item.type === "message" && item.role === "assistant") {
      speech = (speech ?? "") + item.text.replaceAll(/\s/g, "");
      continue;
    }
    if (item.type === "reasoning") continue;
    speak(index);
    entries.push({ canon: canonOf(item), isAssistants: item.type === "function_call", end: index + 1 });
  }
  speak(items.length);
  return entries;
}

function canonOf(item: Exclude<GivenItem, { type: "reasoning" }>): string {
  switch (item.type) {
    case "message": {
      const role = item.role === "developer" ? "system" : item.role;
      return JSON.stringify([role, item.text, (item.attachments ?? []).map(digestOf)]);
    }
    case "function_call":
      return JSON.stringify(["call", item.call, item.name, canonicalJson(item.params)]);
    case "function_call_output":
      return JSON.stringify(["output", item.call, item.output, (item.attachments ?? []).map(digestOf)]);
  }
}

/** The digest of each beginning: of no entries, of one, of two, and so on. */
export function digestsOf(entries: readonly Entry[], seed: string): readonly string[] {
  let digest = hash("sha256", seed, "base64url");
  return [digest, ...entries.map(({ canon }) => (digest = hash("sha256", digest + canon, "base64url")))];
}

/** Arguments that say the same are the same; what is no JSON is taken as it is. */
function canonicalJson(text: string): unknown {
  try {
    return sorted(JSON.parse(text));
  } catch {
    return text;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
