import fc from "fast-check";
import { expect, test } from "vitest";
import type { TextFormat } from "../../../plugins/messaging/services.ts";
import { writeMessages } from "../../../plugins/messaging/text/markdown.ts";

const write = (markdown: string, format: TextFormat, characters = 4000) =>
  writeMessages(markdown, { format, characters });
const texts = (markdown: string, format: TextFormat, characters?: number) =>
  write(markdown, format, characters).map(({ text }) => text);

const MARKDOWN = `# Title

Some **bold**, *slanted*, ~~gone~~ and \`a < b\` text with [a link](https://example.com/?a=1&b=2).

- one
- two
  1. inner

> quoted

| a | bb |
| - | -- |
| 1 | 2 |

\`\`\`js
if (a < b) {}
\`\`\`
`;

test("each format writes Markdown in its own marks", () => {
  expect(texts(MARKDOWN, "telegram")).toEqual([
    `<b>Title</b>

Some <b>bold</b>, <i>slanted</i>, <s>gone</s> and <code>a &lt; b</code> text with <a href="https://example.com/?a=1&amp;b=2">a link</a>.

• one
• two
  1. inner

<blockquote>quoted</blockquote>

<pre>a  bb
-  --
1  2</pre>

<pre><code class="language-js">if (a &lt; b) {}</code></pre>`,
  ]);
  expect(texts(MARKDOWN, "slack")[0]).toContain(
    "*Title*\n\nSome *bold*, _slanted_, ~gone~ and `a &lt; b` text with <https://example.com/?a=1&amp;b=2|a link>.",
  );
  expect(texts(MARKDOWN, "plain")[0]).toContain("a link (https://example.com/?a=1&b=2)");
  const [mail] = write(MARKDOWN, "mail");
  expect(mail?.text).toContain("Some bold, slanted");
  expect(mail?.html).toContain("<h3>Title</h3>");
  expect(mail?.html).toContain("<strong>bold</strong>");
});

test("what a stranger wrote makes no marks, and an address that is none is no link", () => {
  expect(texts('<script>alert(1)</script> & <a href="x">y</a>', "telegram")[0]).toBe(
    "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;a href=&quot;x&quot;&gt;y&lt;/a&gt;",
  );
  expect(texts("[click](javascript:alert(1))", "telegram")).toEqual(["click"]);
  expect(texts("<!channel> <@U1>", "slack")[0]).not.toMatch(/<[!@]/);
});

test("a message ends between blocks; code is closed and opened again, a table repeats its head, a link stays whole", () => {
  const code = `\`\`\`js\n${"let a = 1;\n".repeat(60)}\`\`\``;
  for (const text of texts(`Before\n\n${code}\n\nAfter`, "telegram", 300)) {
    expect(text.length).toBeLessThanOrEqual(300);
    expect(text.match(/<pre>/g)?.length ?? 0).toBe(text.match(/<\/pre>/g)?.length ?? 0);
  }
  const rows = Array.from({ length: 40 }, (_, at) => `| ${at} | value ${at} |`).join("\n");
  const tables = texts(`| n | value |\n| - | - |\n${rows}`, "slack", 200);
  expect(tables.length).toBeGreaterThan(2);
  for (const text of tables) expect(text).toMatch(/^```\nn {3}value\n/);
  const link = "[a link with words](https://example.com/a/long/path)";
  const linked = texts(`${"word ".repeat(30)}${link} ${"word ".repeat(30)}`, "telegram", 120);
  expect(
    linked.filter((text) => text.includes('<a href="https://example.com/a/long/path">a link with words</a>')),
  ).toHaveLength(1);
  for (const text of linked) expect(text.length).toBeLessThanOrEqual(120);
});

test("a long paragraph of lines ends a message with a line, and one long line between two words", () => {
  const lines = Array.from({ length: 30 }, (_, at) => `Line ${at} has **some** _more_ words`);
  for (const format of ["telegram", "plain"] as const) {
    const said = texts(lines.join("\n"), format, 200).flatMap((text) => text.split("\n"));
    expect(said).toHaveLength(lines.length);
  }
  expect(texts("word ".repeat(100), "plain", 200).every((text) => text.endsWith("word"))).toBe(true);
});

test("whatever is written, messages keep to the limit, are whole and lose no word", () => {
  const word = fc.stringMatching(/^[a-z]{1,12}$/);
  const block = fc.oneof(
    fc.array(word, { minLength: 1, maxLength: 60 }).map((words) => words.join(" ")),
    fc.array(word, { minLength: 1, maxLength: 20 }).map((words) => `**${words.join(" ")}**`),
    fc.array(word, { minLength: 1, maxLength: 20 }).map((words) => words.map((one) => `- ${one}`).join("\n")),
    fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => `\`\`\`\n${words.join("\n")}\n\`\`\``),
    fc.string({ maxLength: 200 }),
  );
  fc.assert(
    fc.property(
      fc.array(block, { minLength: 1, maxLength: 6 }),
      fc.constantFrom<TextFormat>("telegram", "slack", "plain", "mail"),
      fc.integer({ min: 120, max: 600 }),
      (blocks, format, characters) => {
        const all = texts(blocks.join("\n\n"), format, characters);
        for (const text of all) {
          expect(text.length).toBeLessThanOrEqual(characters);
          expect(text.isWellFormed()).toBe(true);
          if (format === "telegram")
            for (const tag of ["b", "i", "s", "pre", "code", "a", "blockquote"])
              expect(text.match(new RegExp(`<${tag}[ >]`, "g"))?.length ?? 0).toBe(
                text.match(new RegExp(`</${tag}>`, "g"))?.length ?? 0,
              );
        }
      },
    ),
    { numRuns: 300 },
  );
});

test("a text that would keep a parser busy for minutes is written, and a hundred thousand characters are few messages", () => {
  expect(texts("*a".repeat(50_000), "telegram").length).toBeLessThanOrEqual(40);
  expect(texts("a".repeat(100_000), "plain").length).toBeLessThanOrEqual(40);
  expect(texts("[".repeat(20_000), "slack").length).toBeLessThanOrEqual(40);
});
