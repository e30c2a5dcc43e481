/** No pattern or scan that meets what a stranger wrote takes more than linear time. */
import { expect, test } from "vitest";
import { rule } from "../host/broker/policy.ts";
import { readable } from "../host/calls/crash.ts";
import { parseCapabilities } from "../host/catalog/catalog.ts";
import { createMask } from "../kernel/mask/mask.ts";
import { createMatcher } from "../kernel/mask/matcher.ts";
import { redact } from "../kernel/mask/redact.ts";
import { wrapOutput } from "../kernel/text/wrap.ts";
import { digest } from "../plugins/agent/context/window.ts";
import { clipTitle } from "../plugins/agent/threads/title.ts";
import { createRedactStream } from "../plugins/agent/turn/answer/redact-stream.ts";
import { passagesOf } from "../plugins/memory/indexer.ts";
import { cleanPath } from "../plugins/memory/path.ts";
import { termsOf } from "../plugins/memory/search/lexical.ts";
import { snippetOf } from "../plugins/memory/search/search.ts";
import { decide } from "../plugins/models/builtin/decide.ts";
import { hear } from "../plugins/provenance/person/utterances.ts";
import { judge } from "../plugins/provenance/ruling.ts";
import { cut, plain, wrap } from "../plugins/tui/text/lines.ts";
import { renderMarkdown } from "../plugins/tui/text/markdown.ts";
import { createPalette } from "../plugins/tui/text/palette.ts";
import { allPatterns, cook, type Recipe, recipesFor, withoutHanging } from "./support/patterns.ts";
import { NOW } from "./support/services/builtin-dialogue.ts";
import { everyTool } from "./support/services/builtin-tools.ts";

const SAMPLE = 1500;
const MEGABYTE = 1_000_000;

/** Not read by a pattern in our process, or short by then. */
const ELSEWHERE: readonly (readonly [place: string, why: string])[] = [
  ["test/channel-contract/", "reads what a test caused"],
  ["host/compile/", "runs in the tool's process"],
  ["host/sandbox/inside/", "runs in the tool's process"],
  ["plugins/models/providers/chat-completions/endpoint.ts /\\/+$/", "reads a setting"],
  ["plugins/models/spending/prices.ts /0+$/", "reads twelve digits"],
  ["plugins/memory/search/search.ts /\\s+\\S*$/u", "reads 240 characters"],
  ['plugins/models/builtin/message-reader.ts /"[^"]+"', "reads 2000 characters"],
];

/** Returns those of these texts that take longest. */
function slowestOf(
  recipes: readonly Recipe[],
  length: number,
  count: number,
  read: (text: string) => unknown,
): readonly Recipe[] {
  const timed = recipes.map((recipe) => {
    const text = cook(recipe, length);
    const begun = performance.now();
    read(text);
    return { recipe, took: performance.now() - begun };
  });
  const slowest = timed.toSorted((one, other) => other.took - one.took).slice(0, count);
  return slowest.map(({ recipe }) => recipe);
}

/** When they are short, and again when they are longer: whatever else the machine does falls on some of them. */
function worstOf(recipes: readonly Recipe[], read: (text: string) => unknown): Recipe {
  const [worst = ["", "a", ""]] = slowestOf(slowestOf(recipes, SAMPLE, 12, read), SAMPLE * 8, 1, read);
  return worst;
}

/** What was read when it hung, or nothing. */
function findHanging(
  recipes: readonly Recipe[],
  read: (text: string) => unknown,
  timeout?: number,
): string | undefined {
  let worst: Recipe | undefined;
  try {
    withoutHanging(() => {
      worst = worstOf(recipes, read);
      read(cook(worst, MEGABYTE));
    }, timeout);
    return undefined;
  } catch (error) {
    return `${(error as Error).message}: ${JSON.stringify(worst)}`;
  }
}

test.each([/<(\s*\/?\s*(?:tool-output|summary))(?![\w-])/gi, /\s+\S*$/g, /(?:[^"\\]+|\\.)*"/g, /(a|a?)+$/g])(
  "a pattern that takes longer is found: %s",
  (pattern) => {
    const read = (text: string) => text.replaceAll(pattern, "");
    expect(findHanging(recipesFor(pattern.source), read, 300)).toMatch(/timed out/);
  },
);

test("every regular expression reads a megabyte of what is worst for it", () => {
  const patterns = allPatterns(["kernel", "plugins", "host", "capabilities"]);
  expect(patterns.length).toBeGreaterThan(300);
  const hanging = patterns.flatMap(({ file, expression }) => {
    const name = `${file} ${expression}`;
    if (ELSEWHERE.some(([place]) => name.startsWith(place))) return [];
    const everywhere = new RegExp(expression, `${expression.flags.replace("g", "")}g`);
    const why = findHanging(recipesFor(expression.source), (text) => text.replaceAll(everywhere, ""));
    return why === undefined ? [] : [`${name}: ${why}`];
  });
  expect(hanging).toEqual([]);
});

const SECRET = "aaaaaaaaab-%41\\u0041&amp;";
const mask = createMask();
mask.add(SECRET);
const secrets = createMatcher([SECRET, "a".repeat(64)]);
const http = parseCapabilities({
  version: "1.0.0",
  wit_version: "0.1.0",
  http: { allowlist: [{ host: "example.com", path_prefix: "/a", methods: ["POST"] }] },
}).http;

const ALL: readonly string[] = [
  ..."< </ <tool-output | a 0 . - _ ' \" \\ / * ` [ > # = @ % & ; é ﷽ 👋 \u001b[ \u202e \ud800".split(" "),
  ..."-----BEGIN eyJ -eyJ a. sk- SG. %25 %2 \\u00 \\\\u &# &#x &am \u0000a 1,111 http:// }{ </summary><summary>".split(
    " ",
  ),
  ...[" ", "\n", "\t", "\r", "\n    at ", "\n- ", "User:\n", '{"a":', "please, ", "ignore all previous "],
  ...["> ", "- ", "1. ", "*a_ ", "!", "__a_"],
  "-----BEGIN A PRIVATE KEY-----",
  SECRET.slice(0, -1),
  Buffer.from(SECRET).toString("base64").slice(0, -2),
  Buffer.from(SECRET).toString("hex").slice(0, -1),
];
const RECIPES = ALL.flatMap((unit): Recipe[] => [
  ["", unit, ""],
  ["<", unit, "x y\u0001"],
]);

/** To a place, with a content, about a thing. */
const sendTo = (value: string) => ({
  name: "send_file",
  owner: "send_file",
  schema: {},
  params: { to: value, body: value, file_id: value, url: value },
  writes: true,
  isOutside: true,
});

const ignoring =
  (read: (text: string) => unknown) =>
  (text: string): unknown => {
    try {
      return read(text);
    } catch {
      return undefined;
    }
  };

test.each<[string, (text: string) => unknown]>([
  ["what wraps a tool's output", (text) => wrapOutput(text, text, text.length)],
  ["what redacts before a model", (text) => redact(mask, text)],
  [
    "what redacts a stream",
    (text) => {
      const stream = createRedactStream(mask);
      for (let at = 0; at < text.length; at += 1000) stream.push(text.slice(at, at + 1000));
      return stream.end();
    },
  ],
  ["what masks the log", (text) => mask.hide(text)],
  ["what looks for secrets in a request", (text) => secrets.finds(text)],
  ["what scrubs a response", (text) => secrets.scrub(Buffer.from(text))],
  ["a thread's title", clipTitle],
  ["a memory's path", ignoring(cleanPath)],
  ["a memory's passages", passagesOf],
  ["a search's terms and snippet", (text) => [termsOf(text), snippetOf(text, "a b")]],
  ["a summary", digest],
  [
    "what a person said",
    (text) => judge(sendTo("a b"), hear([text]), [{ owner: "a", text: "a b", asked: {} }]),
  ],
  [
    "whose a value is",
    (text) => judge(sendTo(text), hear(["send a b to 1"]), [{ owner: "a", text, asked: {} }]),
  ],
  [
    "which record is meant",
    (text) =>
      judge(sendTo("1"), hear([text]), [
        { owner: "list_files", text: `- id: 1\n  name: ${text}`, asked: {} },
      ]),
  ],
  [
    "the built-in model's reading of a message",
    (text) =>
      decide(
        { system: "", temperature: undefined, messages: [{ role: "user", text }], tools: everyTool },
        NOW,
      ),
  ],
  [
    "the built-in model's reading of a tool's output",
    (text) => {
      const call = { id: "1", name: "weather", params: "{}" };
      const tool = { role: "tool", call, output: text, failed: false } as const;
      return decide(
        {
          system: "",
          temperature: undefined,
          messages: [{ role: "user", text: "weather" }, tool],
          tools: everyTool,
        },
        NOW,
      );
    },
  ],
  [
    "the rule for a tool's requests",
    (text) =>
      rule(
        http,
        {
          method: text,
          url: `https://example.com/a/${encodeURI(text.toWellFormed())}`,
          headersJson: text,
          body: undefined,
          timeoutMs: undefined,
        },
        new Set(),
      ),
  ],
  ["a capabilities file", ignoring((text) => parseCapabilities(text))],
  [
    "a crash of a tool",
    (text) => readable({ ok: false, code: "threw", message: `The tool threw: ${text}`, logs: [] }),
  ],
])("%s takes linear time", (_what, read) => {
  expect(findHanging(RECIPES, read)).toBeUndefined();
});

test("the terminal's lines and Markdown take linear time", () => {
  // Others take long, if in proportion: the width of each character is looked up.
  const marks = RECIPES.filter(([, unit]) => /^[!-~]+ ?$/.test(unit));
  expect(findHanging(marks, (text) => [wrap(plain(text), 80), cut(plain(text), 80)])).toBeUndefined();
  const palette = createPalette(false);
  expect(findHanging(marks, (text) => renderMarkdown(text, 80, palette))).toBeUndefined();
});
