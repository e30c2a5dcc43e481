/**
 * The services that can answer a search, each with its request and the fields used of its response. They are written
 * from the services' documentation; nobody has tried them against the real ones.
 */

export interface Result {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  readonly date?: string;
  /** Who found it. */
  readonly source: string;
}

export interface Search {
  readonly query: string;
  readonly limit: number;
  /** A code such as "en". */
  readonly language: string;
  /** Without a slash at its end; undefined where the operator gave none. */
  readonly searxngUrl: string | undefined;
}

export interface Request {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

export interface Service {
  readonly name: string;
  /** The secret that has to be set; such a service is asked alone. */
  readonly key?: string;
  request(search: Search): Request;
  /** Fields that are missing are empty; entries without an address are left out later. */
  results(answer: unknown, search: Search): readonly Omit<Result, "source">[];
}

const MAX_SNIPPET = 400;

export const SEARXNG: Service = {
  name: "SearXNG",
  request: ({ searxngUrl = "", query, language }) =>
    get(`${searxngUrl}/search`, { q: query, format: "json", language }),
  results: (answer) =>
    list(field(answer, "results")).map((item) => entry(item, "title", "url", "content", "publishedDate")),
};

/** In the order in which they are preferred. */
export const KEYED: readonly Service[] = [
  {
    name: "Brave Search",
    key: "brave_search_key",
    request: ({ query, limit, language }) =>
      get("https://api.search.brave.com/res/v1/web/search", {
        q: query,
        count: `${limit}`,
        search_lang: language,
      }),
    results: (answer) =>
      list(field(field(answer, "web"), "results")).map((item) =>
        entry(item, "title", "url", "description", "page_age"),
      ),
  },
  {
    name: "Tavily",
    key: "tavily_key",
    request: ({ query, limit }) => ({
      method: "POST",
      url: "https://api.tavily.com/search",
      body: { query, max_results: limit },
    }),
    results: (answer) =>
      list(field(answer, "results")).map((item) => entry(item, "title", "url", "content", "published_date")),
  },
  {
    name: "Kagi",
    key: "kagi_key",
    request: ({ query, limit }) => get("https://kagi.com/api/v0/search", { q: query, limit: `${limit}` }),
    // Related searches come in the same list, as another type.
    results: (answer) =>
      list(field(answer, "data"))
        .filter((item) => field(item, "t") === 0)
        .map((item) => entry(item, "title", "url", "snippet", "published")),
  },
  {
    name: "Exa",
    key: "exa_key",
    request: ({ query, limit }) => ({
      method: "POST",
      url: "https://api.exa.ai/search",
      body: { query, numResults: limit, contents: { text: { maxCharacters: MAX_SNIPPET } } },
    }),
    results: (answer) =>
      list(field(answer, "results")).map((item) => entry(item, "title", "url", "text", "publishedDate")),
  },
];

/** They need no key, and each knows only a part of the web: all are asked. */
export const OPEN: readonly Service[] = [
  {
    name: "Wikipedia",
    request: ({ query, limit, language }) =>
      get(`https://${wikipedia(language)}/w/api.php`, {
        action: "query",
        list: "search",
        srsearch: query,
        srlimit: `${Math.min(limit, 4)}`,
        format: "json",
      }),
    results: (answer, { language }) =>
      list(field(field(answer, "query"), "search")).map((item) => {
        const title = text(field(item, "title"));
        return {
          title,
          url:
            title && `https://${wikipedia(language)}/wiki/${encodeURIComponent(title.replaceAll(" ", "_"))}`,
          snippet: plain(text(field(item, "snippet"))),
          date: text(field(item, "timestamp")),
        };
      }),
  },
  {
    name: "Marginalia",
    request: ({ query, limit }) => ({
      ...get("https://api2.marginalia-search.com/search", { query, count: `${limit}` }),
      // Not a secret: it is the key that the service names for everybody.
      headers: { "api-key": "public" },
    }),
    results: (answer) =>
      list(field(answer, "results")).map((item) => entry(item, "title", "url", "description")),
  },
  {
    name: "Wikidata",
    request: ({ query, language }) =>
      get("https://www.wikidata.org/w/api.php", {
        action: "wbsearchentities",
        search: query,
        language: code(language),
        limit: "2",
        format: "json",
      }),
    results: (answer) =>
      list(field(answer, "search")).map((item) => {
        const id = text(field(item, "id"));
        return {
          title: text(field(item, "label")) || id,
          url: /^[A-Z]\d+$/.test(id) ? `https://www.wikidata.org/wiki/${id}` : "",
          snippet: text(field(item, "description")),
        };
      }),
  },
];

/** A wrong code must not become another host. */
const code = (language: string) => (/^[a-z]{2,3}$/.test(language) ? language : "en");
const wikipedia = (language: string) => `${code(language)}.wikipedia.org`;

function get(address: string, query: Readonly<Record<string, string>>): Request {
  const pairs = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return { method: "GET", url: `${address}?${pairs.join("&")}` };
}

function entry(item: unknown, title: string, url: string, snippet: string, date = "") {
  const read = (name: string) => plain(text(field(item, name)));
  return { title: read(title), url: text(field(item, url)), snippet: read(snippet), date: read(date) };
}

/** Services mark the words that were found, and write the rest as HTML. */
function plain(html: string): string {
  const words = html
    .replace(/<\/?[a-z][^<>]{0,200}>/gi, "")
    .replace(/&(quot|amp|lt|gt|#0?39|nbsp);/g, (_, name: string) => ENTITIES[name] ?? "'")
    .replace(/\s+/g, " ")
    .trim();
  return words.length > MAX_SNIPPET ? `${words.slice(0, MAX_SNIPPET)}…` : words;
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: "&", lt: "<", gt: ">", nbsp: " " };

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
