import { expect, test } from "vitest";
import { parseTemplate, render } from "../../../plugins/webhook/integrations/template.ts";

const fill = (template: string, event: unknown) => render(parseTemplate(template), event);

test("values are filled in, and it is known which words are whose", () => {
  const template = "A {{action}} in {{ repository.full_name }}, number {{issue.number}}: {{done}}";
  const event = {
    action: "opened",
    repository: { full_name: "octo/cat" },
    issue: { number: 7 },
    done: false,
  };
  const { text, spans } = fill(template, event);
  expect(text).toBe("A opened in octo/cat, number 7: false");
  expect(spans.map(({ from, to }) => text.slice(from, to))).toEqual(["opened", "octo/cat", "7", "false"]);
});

test.for([
  ["{{missing}}", "(no missing)"],
  ["{{a.b.c}}", "(no a.b.c)"],
  ["{{list}}", "(no list)"],
  ["{{object}}", "(no object)"],
  ["{{nothing}}", "(no nothing)"],
  ["{{blank}}", "(no blank)"],
  ["{{constructor}}", "(no constructor)"],
  ["{{__proto__.polluted}}", "(no __proto__.polluted)"],
  ["{{toString.name}}", "(no toString.name)"],
  ["{{text.length}}", "(no text.length)"],
] as const)("what is not there, or fits into no sentence, is said to be missing: %s", ([template, text]) => {
  const event = { list: [1], object: { a: 1 }, nothing: null, blank: " \n ", text: "abc" };
  expect(fill(template, event)).toEqual({ text, spans: [] });
});

test("an item of a list has its number for a name, and only own fields are looked at", () => {
  const event = JSON.parse('{"commits":[{"id":"c0"}],"__proto__":{"x":"own"}}') as unknown;
  expect(fill("{{commits.0.id}} {{__proto__.x}}", event).text).toBe("c0 own");
});

test("a value is one line, characters that hide or turn text are spelled out, and it is cut", () => {
  const value = "a\r\nb\u2028c\u202ed\u0000e\u200bf";
  expect(fill("<{{value}}>", { value }).text).toBe(String.raw`<a\u{d}\nb\u{2028}c\u{202e}d\u{0}e\u{200b}f>`);
  const { text } = fill("{{value}}", { value: `${"🦊".repeat(500)}` });
  expect(text.length).toBeLessThanOrEqual(202);
  expect(text.isWellFormed()).toBe(true);
  expect(text.endsWith("…")).toBe(true);
});

test("what is filled in is never read as a template", () => {
  const event = { a: "{{b}}", b: "secret", c: "}} {{b" };
  expect(fill("{{a}} {{c}}", event).text).toBe("{{b}} }} {{b");
});

test.for([
  ["", /blank/],
  ["  ", /blank/],
  ["{{a", /"}}"/],
  ["{{}}", /look up/],
  ["{{a..b}}", /look up/],
  ["{{a b}}", /look up/],
  ["{{a[0]}}", /look up/],
  ["{{#each x}}", /look up/],
  ["{{a.b.c.d.e.f.g.h.i}}", /look up/],
  ["{{a}}".repeat(33), /32 values/],
  ["x".repeat(2001), /2000/],
] as const)("a template that makes no sense is refused: %s", ([template, why]) => {
  expect(() => parseTemplate(template)).toThrow(why);
});
