/** Pages of many shapes, and beside each what should be read from it. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Received, Refusal, read } from "../../../components/read-page/read.ts";
import { ADDRESS, FOLDER, show, TYPES } from "./pages.ts";

function attempt(received: Partial<Received>, params = {}): string {
  try {
    const whole = { status: 200, url: ADDRESS, contentType: "", body: new Uint8Array(), ...received };
    return show(read(whole, { url: ADDRESS, ...params }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return `refused: ${error.message}\n`;
  }
}

describe("what is read from a page", () => {
  test.each(globSync("*.{html,xml,json}", { cwd: FOLDER }).sort())(
    "%s (update with vitest -u)",
    async (file) => {
      const shown = attempt({
        url: `https://site.example/pages/${file}`,
        contentType: TYPES[file.split(".").at(-1) ?? ""] ?? "",
        body: readFileSync(join(FOLDER, file)),
      });
      await expect(shown).toMatchFileSnapshot(join(FOLDER, `${file.replace(/\.\w+$/, "")}.md`));
    },
  );
});

describe("what is no page", () => {
  const bytes = (text: string) => Buffer.from(text, "latin1");

  test.each([
    ["%PNG", { body: bytes("\x89PNG\r\n\x1a\n0000") }, "a picture (PNG)"],
    ["an archive", { body: bytes("PK\x03\x04rest") }, "an archive or an office document (ZIP)"],
    ["a film", { body: bytes("....ftypisom"), contentType: "video/mp4" }, "a film"],
    ["bytes", { body: bytes("\x01\x02\x00\x03") }, "a file that is not text"],
    ["nothing", { body: bytes("") }, "site.example sent an empty response."],
    [
      "a missing page",
      { status: 404, contentType: "text/html", body: bytes("<title>Oops</title>") },
      "status 404 (there is no such page): Oops",
    ],
    [
      "a refusal",
      { status: 403, contentType: "text/html", body: bytes("<title>Just a moment...</title>") },
      "check for robots",
    ],
    ["an error without a page", { status: 500, body: bytes("") }, "site.example answered with status 500."],
  ])("%s is said to be what it is", (_, received, words) => {
    expect(attempt(received)).toMatch(/^refused: /);
    expect(attempt(received)).toContain(words);
  });

  test("plain text stays as it is, JSON is indented", () => {
    expect(attempt({ contentType: "text/plain", body: Buffer.from("a\r\n  b <c>\n") })).toContain(
      "\n\na\n  b <c>\n",
    );
    expect(attempt({ contentType: "application/json", body: Buffer.from('{"a":[1]}') })).toContain(
      '"a": [\n    1\n  ]',
    );
    expect(attempt({ contentType: "application/json", body: Buffer.from("{a") })).toContain("but it is not");
  });
});

describe("the encoding of a page", () => {
  const page = (head: string, text: string) =>
    `<html><head>${head}<title>t</title></head><body><p>${text}</p></body></html>`;

  test.each([
    ["the header", "text/html; charset=windows-1251", "", [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2], "Привет"],
    [
      "the header before the page",
      "text/html; charset=windows-1251",
      "<meta charset=utf-8>",
      [0xcf, 0xf0, 0xe8],
      "При",
    ],
    ["the page", "text/html", '<meta charset="EUC-KR">', [0xc7, 0xd1, 0xb1, 0xb9], "한국"],
    [
      "an old meta element",
      "text/html",
      '<META http-equiv=content-type content="text/html; charset=gb2312">',
      [0xd6, 0xd0],
      "中",
    ],
    ["an unknown name", "text/html; charset=x-none", "", [0xc3, 0xa9], "é"],
    ["nothing, and it is UTF-8", "text/html", "", [0xc3, 0xa9], "é"],
    ["nothing, and it is not", "text/html", "", [0xe9], "é"],
  ])("is what %s says", (_, contentType, head, encoded, text) => {
    const [before = "", after = ""] = page(head, "|").split("|");
    const body = Buffer.concat([Buffer.from(before), Buffer.from(encoded), Buffer.from(after)]);
    expect(attempt({ contentType, body })).toContain(`\n\n${text}\n`);
  });

  test("a byte order mark is believed before the header", () => {
    const body = Buffer.from("\ufeff<p>naïve</p>");
    expect(attempt({ contentType: "text/html; charset=iso-8859-1", body })).toContain("naïve");
  });
});

describe("a long text", () => {
  const paragraphs = Array.from(
    { length: 200 },
    (_, at) => `Paragraph ${at} of the text. ${"Word ".repeat(40)}`,
  );
  const body = Buffer.from(paragraphs.join("\n\n"));
  const long = (params: object) => attempt({ contentType: "text/plain", body }, params);

  test("comes in pages that together are the whole", () => {
    expect(long({})).toContain("pages: 4\nnote: It goes on: ask for page 2.");
    const all = [1, 2, 3, 4].map((page) => long({ page }).split("---\n\n")[1]?.trim()).join("\n\n");
    expect(all.split(/\s+/)).toEqual(paragraphs.join("\n\n").trim().split(/\s+/));
    expect(long({ page: 5 })).toBe("refused: There is no page 5: the text has 4 pages.\n");
  });

  test("gives only the passages that somebody looks for", () => {
    const found = long({ find: "PARAGRAPH 150 of" });
    expect(found).toContain('Only the passages with "PARAGRAPH 150 of" are shown.');
    expect(found).toContain("Paragraph 150 of the text.");
    expect(found).not.toContain("Paragraph 151");
    expect(long({ find: "zebra" })).toContain('The words "zebra" do not occur');
  });
});

describe("a long page", () => {
  const paragraphs = Array.from(
    { length: 400 },
    (_, at) => `<p>Sentence ${at}, with a comma and some words more.</p>`,
  );
  const page = (before: string, body: string) =>
    Buffer.from(
      `<html lang="en"><head><title>Cells | The Paper</title><meta name="author" content="Ada Example"></head><body>${before}${body}</body></html>`,
    );
  const html = (before: string, body: string) =>
    attempt({ contentType: "text/html", body: page(before, body) }, { find: "Sentence 399" });

  test("gives the element that it marks as its text, and still says who wrote it", () => {
    const menu = `<nav><a href="/">Home</a></nav><div class="sidebar">Sentence 399 of the sidebar</div>`;
    const shown = html(
      menu,
      `<article><h1>Cells</h1>${paragraphs.join("")}<div class="share">Share</div></article>`,
    );
    expect(shown).toContain("title: Cells");
    expect(shown).toContain("author: Ada Example");
    expect(shown).toContain("Sentence 399, with a comma");
    expect(shown).not.toContain("sidebar");
  });

  test("is searched where it marks nothing, or several articles", () => {
    expect(html("", `<div>${paragraphs.join("")}</div>`)).toContain("Sentence 399, with a comma");
    const halves = [paragraphs.slice(0, 200), paragraphs.slice(200)].map(
      (half) => `<article>${half.join("")}</article>`,
    );
    expect(html("", halves.join(""))).toContain("Sentence 399, with a comma");
  });
});

describe("markup that browsers forgive", () => {
  const text = (html: string) =>
    attempt({ contentType: "text/html", body: Buffer.from(html) })
      .split("---\n\n")[1]
      ?.trim();

  test.each([
    ["elements that nobody closes", "<ul><li>a<li>b</ul><p>c<p>d", "- a\n- b\n\nc\n\nd"],
    [
      "rows and cells that nobody closes",
      "<table><tr><th>a<th>b<tr><td>1<td>2</table>",
      "| a | b |\n| --- | --- |\n| 1 | 2 |",
    ],
    ["a smaller-than sign", "<p>1 < 2 and 3 <4</p>", "1 < 2 and 3 <4"],
    ["ends of what was never open", "<p>a</b></div>b</p>", "ab"],
    [
      "tags in capitals, attributes without quotes",
      "<P>see <A HREF=/x>it</A></P>",
      "see [it](https://site.example/x)",
    ],
    [
      "entities without an end",
      "<p>a &amp b &copy; &#x41; &nosuch; <a href='/?a=1&copy=2'>l</a></p>",
      "a & b © A &nosuch; [l](https://site.example/?a=1&copy=2)",
    ],
    ["comments and styles with tags in them", "<p>a<!-- <p>no --><style>a<b{} '</p>'</style>b</p>", "ab"],
    ["a tag that never ends", "<p>whole</p><p class='x", "whole"],
    ["drawings", "<p>a<svg><path d='1'/><g><path/></g></svg>b</p><p>c</p>", "ab\n\nc"],
  ])("%s", (_, html, expected) => {
    expect(text(html)).toBe(expected);
  });
});
