/** The documentation as files. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, test } from "vitest";
import { buildSite } from "../../.docs/build.ts";
import { readPage } from "../../.docs/page.ts";
import { temporaryFolder } from "../support/home.ts";

test("every document is a page, and no link leads nowhere", async () => {
  const target = join(temporaryFolder(), "site");
  const { pages, problems } = await buildSite(target);
  expect(problems).toEqual([]);
  expect(new Set(pages).size).toBe(pages.length);
  for (const page of pages) {
    const html = readFileSync(join(target, page), "utf8");
    // Files served by anything: no script, and nothing from elsewhere.
    expect(html).not.toMatch(/<script|<link[^>]+https?:|<img[^>]+src="https?:/);
    for (const [, link = ""] of html.matchAll(/(?:href|src)="([^"#]*)[^"]*"/g)) {
      if (link === "" || /^[a-z]+:/.test(link)) continue;
      expect(existsSync(normalize(join(target, dirname(page), link))), `${page}: ${link}`).toBe(true);
    }
  }
});

test("headings have the anchors that links to them use, also where two are alike", () => {
  const page = readPage("# One `two`\n\n## Tokens with a scope\n\n## Tokens with a scope\n\n[x](#one-two)");
  expect(page.title).toBe("One two");
  expect([...page.anchors]).toEqual(["one-two", "tokens-with-a-scope", "tokens-with-a-scope-1"]);
  expect(page.toHtml((link) => link)).toContain('<h2 id="tokens-with-a-scope-1">');
});
