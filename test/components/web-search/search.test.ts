/** One result shape over several services; the responses are written after the services' documentation. */
import { describe, expect, test } from "vitest";
import { type Send, search } from "../../../components/web-search/search.ts";
import type { Request } from "../../../components/web-search/services.ts";

const ANSWERS: Readonly<Record<string, unknown>> = {
  "searx.example": {
    results: [
      {
        title: "Tide",
        url: "https://a.example/",
        content: "About <b>tides</b>",
        publishedDate: "2026-01-02",
      },
    ],
  },
  "api.search.brave.com": {
    web: {
      results: [
        {
          title: "Tide",
          url: "https://a.example/",
          description: "About &quot;tides&quot;",
          page_age: "2026-01-02",
        },
      ],
    },
  },
  "api.tavily.com": { results: [{ title: "Tide", url: "https://a.example/", content: "About tides" }] },
  "kagi.com": {
    data: [
      { t: 0, title: "Tide", url: "https://a.example/", snippet: "About tides", published: "2026-01-02" },
      { t: 1, list: ["tide tables"] },
    ],
  },
  "api.exa.ai": { results: [{ title: "Tide", url: "https://a.example/", text: "About tides" }] },
  "en.wikipedia.org": {
    query: {
      search: [
        {
          title: "Tidal mill",
          snippet: 'A <span class="searchmatch">tidal</span> mill',
          timestamp: "2026-05-03T00:00:00Z",
        },
        { title: "Tide/Neap", snippet: "" },
      ],
    },
  },
  "www.wikidata.org": {
    search: [{ id: "Q23384", label: "tide", description: "rise and fall of sea levels" }],
  },
  "api2.marginalia-search.com": {
    results: [
      { title: "Mills", url: "https://mills.example/x", description: "Old mills" },
      { title: "Bad", url: "javascript:alert(1)", description: "" },
    ],
  },
};

const hostOf = ({ url }: Request) => new URL(url).host;
const answer: Send = (request) => ANSWERS[hostOf(request)];
const WANTED = { query: "tidal mill & more", limit: 6, language: "en", searxngUrl: undefined };

describe("web-search", () => {
  test.each([
    [
      "brave_search_key",
      "Brave Search",
      "GET https://api.search.brave.com/res/v1/web/search?q=tidal%20mill%20%26%20more&count=6&search_lang=en",
    ],
    ["tavily_key", "Tavily", "POST https://api.tavily.com/search"],
    ["kagi_key", "Kagi", "GET https://kagi.com/api/v0/search?q=tidal%20mill%20%26%20more&limit=6"],
    ["exa_key", "Exa", "POST https://api.exa.ai/search"],
  ])("with %s it asks %s and nobody else", (key, name, request) => {
    const sent: string[] = [];
    const output = search(
      WANTED,
      (secret) => secret === key,
      (one) => {
        sent.push(`${one.method} ${one.url}`);
        return answer(one);
      },
    );
    expect(sent).toEqual([request]);
    expect(output.services).toEqual([name]);
    expect(output.note).toBeUndefined();
    expect(output.results).toHaveLength(1);
    expect(output.results[0]).toMatchObject({ title: "Tide", url: "https://a.example/", source: name });
  });

  test("a SearXNG server of one's own is asked before all others", () => {
    const output = search({ ...WANTED, searxngUrl: "https://searx.example" }, () => true, answer);
    expect(output.services).toEqual(["SearXNG"]);
    expect(output.results).toEqual([
      {
        title: "Tide",
        url: "https://a.example/",
        snippet: "About tides",
        date: "2026-01-02",
        source: "SearXNG",
      },
    ]);
  });

  test("without a key, open services answer together, and the output says how to add a fuller one", () => {
    const output = search(WANTED, () => false, answer);
    expect(output.services).toEqual(["Wikipedia", "Marginalia", "Wikidata"]);
    expect(output.results.map(({ url, source }) => `${source} ${url}`)).toEqual([
      "Wikipedia https://en.wikipedia.org/wiki/Tidal_mill",
      "Marginalia https://mills.example/x",
      "Wikidata https://www.wikidata.org/wiki/Q23384",
      "Wikipedia https://en.wikipedia.org/wiki/Tide%2FNeap",
    ]);
    expect(output.note).toContain("postern tool setup web-search");
  });

  test("services that fail are named, and it fails only if all do", () => {
    const output = search(
      WANTED,
      () => false,
      (request) => {
        if (hostOf(request) !== "www.wikidata.org") throw new Error("it answered with status 503.");
        return answer(request);
      },
    );
    expect(output.services).toEqual(["Wikidata"]);
    expect(output.note).toContain("Not answered: Wikipedia: it answered with status 503.");
    expect(() =>
      search(
        WANTED,
        () => false,
        () => {
          throw new Error("no answer.");
        },
      ),
    ).toThrow("The search failed. Wikipedia: no answer. Marginalia: no answer. Wikidata: no answer.");
  });

  test.each([
    ["nothing", undefined],
    ["a text", "x"],
    ["lists of nothing", { results: [null, 1, {}], search: {}, query: 5 }],
  ])("a response that is %s has no results", (_, strange) => {
    expect(
      search(
        WANTED,
        () => false,
        () => strange,
      ),
    ).toMatchObject({ results: [] });
    for (const key of ["brave_search_key", "tavily_key", "kagi_key", "exa_key"])
      expect(
        search(
          WANTED,
          (secret) => secret === key,
          () => strange,
        ).note,
      ).toBe("Nothing was found.");
  });

  test("a language that is none does not become part of a host", () => {
    const hosts: string[] = [];
    search(
      { ...WANTED, language: "evil.example/" },
      () => false,
      (request) => hosts.push(hostOf(request)),
    );
    expect(hosts).toEqual(["en.wikipedia.org", "api2.marginalia-search.com", "www.wikidata.org"]);
  });
});
