/**
 * What an answer rests on. A tool says it in its output, a JSON object: `sources` are the pages that it read, `results` those that it
 * found, both lists of objects with `url` and `title`. Every channel shows what is found here and decides nothing itself.
 */
import { tryRecord } from "../text/json.ts";
import type { TurnItem } from "./turn.ts";

export interface Source {
  readonly url: string;
  readonly title: string;
  /** The host that the link leads to, shown because the title is a stranger's. */
  readonly host: string;
}

const MAX_SOURCES = 10;
/** Pages that were only found are listed up to here, if nothing was read and the answer names none. */
const MAX_FOUND = 5;
const MAX_URL_LENGTH = 2000;
const MAX_TITLE_LENGTH = 200;

/** Lists the pages that were read. A page that was only found counts if the answer names its address, or if nothing was read. */
export function findSources(outputs: readonly string[], answer: string): readonly Source[] {
  const records = outputs.map((output) => (isPromising(output) ? tryRecord(output) : {}));
  const read = records.flatMap(({ sources }) => listed(sources));
  const found = records.flatMap(({ results }) => listed(results));
  const named = found.filter(({ url }) => answer.includes(url));
  const rest = read.length > 0 || named.length > 0 ? [] : found.slice(0, MAX_FOUND);
  const all = [...read, ...named, ...rest];
  const isFirst = ({ url }: Source, at: number) => all.findIndex((other) => other.url === url) === at;
  return all.filter(isFirst).slice(0, MAX_SOURCES);
}

export function sourcesOf(items: readonly TurnItem[]): readonly Source[] {
  const answer = items.flatMap((item) =>
    item.type === "message" && item.role === "assistant" ? [item.text] : [],
  );
  const outputs = items.flatMap((item) =>
    item.type === "tool_result" && item.outcome.status === "ok" ? [item.outcome.output] : [],
  );
  return answer.length === 0 ? [] : findSources(outputs, answer.join("\n"));
}

/** Most outputs have no sources, and some are long. */
const isPromising = (output: string): boolean =>
  /^\s*\{/.test(output) && /"(sources|results)"\s*:/.test(output);

function listed(value: unknown): readonly Source[] {
  return (Array.isArray(value) ? value : []).slice(0, 100).flatMap((item: Partial<Source> | null) => {
    const { url, title } = item ?? {};
    if (typeof url !== "string" || typeof title !== "string" || url.length > MAX_URL_LENGTH) return [];
    const host = hostOf(url);
    const words = title.replace(/\s+/g, " ").trim().slice(0, MAX_TITLE_LENGTH);
    return host === undefined ? [] : [{ url, title: words || host, host }];
  });
}

/** Returns the host of a web page. An address with a user name or password has none: these hide where a link leads. */
function hostOf(url: string): string | undefined {
  if (!/^https?:\/\/[^\s\p{C}]+$/iu.test(url)) return undefined;
  const parsed = URL.parse(url);
  return parsed === null || parsed.username !== "" || parsed.password !== "" ? undefined : parsed.host;
}
