/**
 * Finds tools by the words of their names, descriptions and schemas. Some of these are strangers' words: each counts once
 * for a tool, only so many of them count, and no server takes more than its share of the places while others want them.
 */
import { LRUCache } from "lru-cache";
import { foldedWords, isStop, stem, wordsOfName } from "../../../../kernel/kit/words.ts";
import type { JsonSchema, ToolInfo } from "../../../../kernel/plugin.ts";

/** Words to look for, by what each is worth. */
export type Query = ReadonlyMap<string, number>;

export interface ToolIndex {
  readonly tools: ReadonlyMap<string, ToolInfo>;
  /** The names of those that fit, best first; the same for the same words. */
  find(query: Query, most: number): readonly string[];
}

export type IndexTools = (tools: readonly ToolInfo[]) => ToolIndex;

// The weight of a word depends on where it stands.
const OF_NAME = 3;
const OF_DESCRIPTION = 1;
const OF_PROPERTY = 0.8;
const OF_DETAIL = 0.4;
/** How much a long name or text takes from each of its words. */
const LENGTH_WEIGHT = 0.3;
const USUAL_WORDS = 25;
/** Tools that fit less than this share of the best of the others are left out. */
const MIN_SHARE = 0.5;
/** The share of the offered tools that one server gets while others want the rest. */
const MAX_SHARE = 2 / 3;
/** How finely it is told how well two fit. */
const LEVELS = 12;

// Limits the text of one tool.
const MAX_WORDS = 80;
const MAX_TEXT_LENGTH = 2000;
const MAX_NODES = 200;

// A token's scope makes another list.
const MAX_INDEXES = 32;
const MAX_ENTRIES = 10_000;
const MAX_STEMS = 10_000;

interface Entry {
  readonly id: number;
  readonly tool: ToolInfo;
  readonly words: ReadonlyMap<string, number>;
}

/** The inputs of an index are kept: a turn only compares, unless a tool has changed. */
export function createToolIndexes(): IndexTools {
  const entries = new Map<string, Entry>();
  const indexes = new LRUCache<string, ToolIndex>({ max: MAX_INDEXES });
  let lastId = 0;

  function entryOf(tool: ToolInfo): Entry {
    const known = entries.get(tool.name);
    if (known && isSame(known.tool, tool)) return known;
    lastId += 1;
    // Some entries belong to tools that were removed; a tool that is still there is read again.
    if (entries.size >= MAX_ENTRIES) entries.clear();
    const entry = { id: lastId, tool, words: wordsIn(tool) };
    entries.set(tool.name, entry);
    return entry;
  }

  return (tools) => {
    const listed = tools.map(entryOf);
    const key = listed.map(({ id }) => id).join();
    const index = indexes.get(key) ?? createIndex(listed);
    indexes.set(key, index);
    return index;
  };
}

function isSame(one: ToolInfo, other: ToolInfo): boolean {
  return (
    one.description === other.description &&
    one.server?.name === other.server?.name &&
    (one.schema === other.schema ||
      (one.fingerprint !== undefined && one.fingerprint === other.fingerprint) ||
      JSON.stringify(one.schema) === JSON.stringify(other.schema))
  );
}

function createIndex(entries: readonly Entry[]): ToolIndex {
  const placed = entries.flatMap(({ words }, at) => [...words].map(([word, worth]) => ({ word, at, worth })));
  const places = Map.groupBy(placed, ({ word }) => word);

  return {
    tools: new Map(entries.map(({ tool }) => [tool.name, tool])),
    find(query, most) {
      const scores = new Float64Array(entries.length);
      for (const [word, weight] of query) {
        const found = places.get(word) ?? [];
        // A word of few tools says more.
        const rarity = weight * Math.log(1 + (entries.length + 1) / (found.length + 0.5));
        for (const { at, worth } of found) scores[at] = (scores[at] ?? 0) + worth * rarity;
      }
      const best = new Map<string, number>();
      for (const [at, { tool }] of entries.entries()) {
        const origin = originOf(tool);
        best.set(origin, Math.max(best.get(origin) ?? 0, scores[at] ?? 0));
      }
      // Not of the very best: one server's words must not make all others seem not to fit.
      const [first = 0, second = 0] = [...best.values()].sort((a, b) => b - a);
      const least = MIN_SHARE * (second || first);
      const level = (score: number) => Math.round((LEVELS * score) / first);
      const fitting = entries
        .map(({ tool }, at) => ({ tool, score: scores[at] ?? 0 }))
        .filter(({ score }) => score > 0 && score >= least)
        .sort((a, b) => level(b.score) - level(a.score) || compare(a.tool, b.tool))
        .map(({ tool }) => tool);
      return shareOut(fitting, most);
    },
  };
}

/** Who a tool is from. What the operator has installed stands for itself. */
function originOf({ name, server }: ToolInfo): string {
  return server ? `server ${server.name}` : name;
}

/** Among tools that fit alike, those that only read come first. */
function compare(one: ToolInfo, other: ToolInfo): number {
  return Number(one.writes) - Number(other.writes) || (one.name < other.name ? -1 : 1);
}

/** The first so many, of which no server has more than its share unless the others leave places free. */
function shareOut(ranked: readonly ToolInfo[], most: number): readonly string[] {
  const share = Math.ceil(most * MAX_SHARE);
  const taken = new Map<string, number>();
  const within = ranked.filter(({ server }) => {
    if (server === undefined) return true;
    const count = (taken.get(server.name) ?? 0) + 1;
    taken.set(server.name, count);
    return count <= share;
  });
  const first = new Set(within.slice(0, most));
  for (const tool of ranked) if (first.size < most) first.add(tool);
  return ranked.filter((tool) => first.has(tool)).map(({ name }) => name);
}

/** The stems of the words that say something; an "e-mail" is an "email" too. */
export function stemsOf(text: string): readonly string[] {
  const joined = text.includes("-")
    ? text.split(/[^\p{L}\p{N}-]/u).flatMap((word) => (word.includes("-") ? word.replaceAll("-", "") : []))
    : [];
  return [...foldedWords(text), ...foldedWords(joined.join(" "))].filter((word) => !isStop(word)).map(stemOf);
}

/** Tools say the same words again and again. */
// As a size: with `max` the arrays of all its places would be made at every start.
const stems = new LRUCache<string, string>({
  maxSize: MAX_STEMS,
  sizeCalculation: () => 1,
  memoMethod: stem,
});
const stemOf = (word: string): string => stems.memo(word);

/** Each word once, worth what it is where it stands first: the name, the description, then the schema. */
function wordsIn({ name, description, schema }: ToolInfo): ReadonlyMap<string, number> {
  const { names, texts } = readSchema(schema);
  const worth = new Map<string, number>();
  const add = (words: readonly string[], value: number) => {
    for (const word of words) {
      if (worth.size >= MAX_WORDS) return;
      if (!worth.has(word)) worth.set(word, value);
    }
  };
  const said = (text: string) => stemsOf(wordsOfName(text).join(" "));
  add(said(name), OF_NAME);
  const named = worth.size;
  add(stemsOf(description.slice(0, MAX_TEXT_LENGTH)), OF_DESCRIPTION);
  add(names.flatMap(said), OF_PROPERTY);
  add(
    texts.flatMap((text) => stemsOf(text.slice(0, MAX_TEXT_LENGTH))),
    OF_DETAIL,
  );
  const length = 1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * worth.size) / USUAL_WORDS;
  // `weather` is meant rather than `weather_pro` where nobody says "pro".
  const inName = 1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * named) / 3;
  return new Map([...worth].map(([word, value]) => [word, value / (value === OF_NAME ? inName : length)]));
}

/** Names of properties, and what else a schema says in words, as far as it is looked at. */
function readSchema(schema: JsonSchema): { readonly names: string[]; readonly texts: string[] } {
  const [names, texts]: [string[], string[]] = [[], []];
  const waiting: unknown[] = [schema];
  for (let seen = 0; seen < MAX_NODES && waiting.length > 0; seen++) {
    const node = waiting.shift();
    if (typeof node !== "object" || node === null) continue;
    for (const [key, value] of Object.entries(node).slice(0, MAX_NODES)) {
      if (key === "properties" && typeof value === "object" && value !== null) {
        names.push(...Object.keys(value).slice(0, MAX_NODES));
        waiting.push(...Object.values(value).slice(0, MAX_NODES));
      } else if (["description", "title", "const"].includes(key)) {
        if (typeof value === "string") texts.push(value);
      } else if (["enum", "oneOf", "anyOf", "allOf"].includes(key) && Array.isArray(value)) {
        const [first] = value;
        if (key !== "enum") waiting.push(...value.slice(0, MAX_NODES));
        else if (typeof first === "string")
          texts.push(value.slice(0, MAX_NODES).join(" ").slice(0, MAX_TEXT_LENGTH));
      } else if (key === "items") waiting.push(value);
    }
  }
  return { names, texts };
}
