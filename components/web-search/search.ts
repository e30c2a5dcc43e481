/** One search: which services are asked, and one list made of what they found. */
import { KEYED, OPEN, type Request, type Result, SEARXNG, type Search, type Service } from "./services.ts";

/** Returns the parsed JSON, or throws an error whose message says what went wrong. */
export type Send = (request: Request) => unknown;

export interface Output {
  readonly query: string;
  /** Who answered. */
  readonly services: readonly string[];
  readonly results: readonly Result[];
  readonly note?: string;
}

/** An error for the model: why there is no result. */
export class Refusal extends Error {}

const FULLER =
  "These services know only a part of the web. For a full search the operator can run `postern tool setup web-search` and give a key for Brave or Kagi, or the address of a SearXNG server.";

export function search(wanted: Search, isSet: (secret: string) => boolean, send: Send): Output {
  const chosen = wanted.searxngUrl === undefined ? KEYED.find(({ key = "" }) => isSet(key)) : SEARXNG;
  const services = chosen === undefined ? OPEN : [chosen];
  const failures: string[] = [];
  const answered: string[] = [];
  const lists = services.map((service) => {
    try {
      const found = ask(service, wanted, send);
      answered.push(service.name);
      return found;
    } catch (error) {
      failures.push(`${service.name}: ${(error as Error).message}`);
      return [];
    }
  });
  if (answered.length === 0) throw new Refusal(`The search failed. ${failures.join(" ")}`);
  const results = merge(lists, wanted.limit);
  const notes = [
    ...(results.length === 0 ? ["Nothing was found."] : []),
    ...(failures.length > 0 ? [`Not answered: ${failures.join(" ")}`] : []),
    ...(chosen === undefined ? [FULLER] : []),
  ];
  return {
    query: wanted.query,
    services: answered,
    results,
    ...(notes.length > 0 && { note: notes.join(" ") }),
  };
}

function ask(service: Service, wanted: Search, send: Send): Result[] {
  return service
    .results(send(service.request(wanted)), wanted)
    .filter(({ title, url }) => title !== "" && /^https?:\/\/[^\s]+$/.test(url))
    .map(({ title, url, snippet, date = "" }) => ({
      title,
      url,
      snippet,
      ...(date !== "" && { date }),
      source: service.name,
    }));
}

/** The first of each, then the second of each: none of them knows better than the others. */
function merge(lists: readonly (readonly Result[])[], limit: number): Result[] {
  const merged = new Map<string, Result>();
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  for (let at = 0; at < longest; at++)
    for (const list of lists) {
      const result = list[at];
      if (result !== undefined && merged.size < limit && !merged.has(result.url))
        merged.set(result.url, result);
    }
  return [...merged.values()];
}
