import { describe, expect, test } from "vitest";
import { hear } from "../../../plugins/provenance/person/utterances.ts";
import { TODAY } from "./calls.ts";

const said = (text: string) => hear([text], [], TODAY);

describe("a name is the person's only as they wrote it", () => {
  test.each([
    ["pay DE89 3704 0044 0532 0130 00", "DE89370400440532013000"],
    ["pay DE89370400440532013000.", "de89 3704 0044 0532 0130 00"],
    ["call +49 (0) 30 1234567", "+49301234567"],
    ["call 0049 30 1234567", "+49 30 1234567"],
    ["look at example.com/Docs", "https://www.example.com/Docs/"],
    ["look at http://example.com/a?b=c", "https://example.com/a?b=c"],
    ["look at HTTPS://Example.com:443/a/../b", "HTTPS://Example.com:443/a/../b"],
    ["look at HTTPS://Example.com:443/a/../b", "https://example.com/b"],
    ["the website example.com", "https://example.com"],
    ["visit example.com", "https://example.com/"],
    ["open http://bücher.example", "https://xn--bcher-kva.example/"],
    ["write to Alice@Example.com, please", "alice@example.com"],
    ["write to <alice@example.com>", "mailto:alice@example.com"],
    ["post it in #general", "general"],
    ["save it in 'My notes/to do.md'", "My notes/to do.md"],
    ["ask @bob.", "bob"],
  ])("%s: %s", (text, value) => {
    expect(said(text).hasName(value)).toBe(true);
  });

  test.each([
    ["write to alice@example.com", "alice@example.com.evil.test"],
    ["write to alice@example.com", "malice@example.com"],
    ["write to alice@example.com", "alice@example.co"],
    ["write to alice@example.com", "аlice@example.com"],
    ["write to alice@example.com", "alice@example.com\u200b"],
    ["write to alice@example.com", "example.com"],
    ["look at https://example.com", "https://example.com@evil.test"],
    ["look at https://example.com", "https://user:pass@example.com"],
    ["look at https://example.com", "https://example.com.evil.test"],
    ["look at https://example.com", "https://evil.example.com"],
    ["look at https://example.com", "https://example.com:8443"],
    ["look at https://example.com", "https://example.com/?q=secret"],
    ["look at https://example.com", "https://example.com/secret"],
    ["look at https://example.com", "https://example.com/#secret"],
    ["look at https://example.com", "https://example.com\\@evil.test"],
    ["look at https://example.com", "https://exаmple.com"],
    ["look at https://example.com/a", "https://example.com/A"],
    ["look at https://example.com", "ftp://example.com"],
    ["look at https://example.com/a?b=c", "http://example.com/a?b=c"],
    ["look at https://example.com/a", "https://example.com/b/../a"],
    ["look at example.com", "https://example.com"],
    ["upload notes.md/report.zip", "https://notes.md/report.zip"],
    ["write to alice@example.com", "aLiCe@example.com"],
    ["write to alice@example.com", "alice@example.com "],
    ["pay DE89370400440532013000", "DE8 9370 40044 0532 0130 00"],
    ["pay DE89370400440532013000", "DE8937040044053201300"],
    ["pay DE89370400440532013000", "E89370400440532013000"],
    ["post it in general-private", "general"],
    ["ask Bob", "Ｂｏｂ"],
    ["ask Bob", "Böb"],
    ["ask Bob", "Bob\u{e0041}"],
    ["ask alice@example.com", "alice"],
  ])("%s: not %s", (text, value) => {
    expect(said(text).hasName(value)).toBe(false);
  });
});

describe("a number is the person's where they counted something with it", () => {
  test.each([
    ["pay 1,200.00 now", 1200],
    ["pay 1200", 1200],
    ["pay 1.200,50 Euro", 1200.5],
    ["pay 12 000 kr", 12000],
    ["pay CHF 1'200", 1200],
    ["pay $98.70.", 98.7],
    ["pay 98,70€", 98.7],
    ["add 5% to it", 0.05],
    ["three tickets", 3],
  ])("%s: %d", (text, value) => {
    expect(said(text).hasNumber(value)).toBe(true);
  });

  test.each([
    ["pay 12.50", 1250],
    ["on 2024-05-19 at 10:30", 2024],
    ["on May 19th", 19],
    ["on 24.12.2024", 24],
    ["at 10:30", 10],
    ["pay DE89 3704 0044 0532 0130 00", 3704],
    ["call +49 30 1234567", 30],
    ["delete file id 13", 13],
    ["see INV-2024-001", 2024],
    ["order #4711", 4711],
    ["read report2024.pdf", 2024],
  ])("%s: not %d", (text, value) => {
    expect(said(text).hasNumber(value)).toBe(false);
  });
});

describe("a moment is the person's in any usual format", () => {
  test.each([
    ["tomorrow at 10", "2026-11-17T10:00"],
    ["tomorrow at 10", "2026-11-17 10:00:00"],
    ["next Friday", "2026-11-20"],
    ["next Friday", "2026-11-27"],
    ["on May 19th at 4pm", "2027-05-19 16:00"],
    ["am 24. Dezember um 18 Uhr", "2026-12-24T18:00"],
    ["on 24.12.2026 at noon", "2026-12-24T12:00:00Z"],
    ["on 12/24/2026", "2026-12-24"],
    ["morgen um 9", "2026-11-17 09:00"],
    ["from 9 to 11 on 2026-11-20", "2026-11-20 11:00"],
    ["at 10am", "10:00"],
    ["pay it", "2026-11-16"],
  ])("%s: %s", (text, value) => {
    expect(said(text).hasMoment(value, [])).toBe(true);
  });

  test.each([
    ["tomorrow at 10", "2026-11-18T10:00"],
    ["tomorrow at 10", "2026-11-17T11:00"],
    ["next Friday", "2026-11-16"],
    ["on May 19th 2026", "2027-05-19"],
    ["at 10am", "22:00"],
    ["pay it", "2026-11-17"],
    ["tomorrow", "2026-11-17 secret"],
  ])("%s: not %s", (text, value) => {
    expect(said(text).hasMoment(value, [])).toBe(false);
  });

  test("an end may be as long after a beginning as they said", () => {
    const event = said("tomorrow at 10:00 for two hours");
    expect(event.hasMoment("2026-11-17 12:00", ["2026-11-17 10:00"])).toBe(true);
    expect(event.hasMoment("2026-11-17 13:00", ["2026-11-17 10:00"])).toBe(false);
  });
});

describe("a text is the person's where nothing else is in it", () => {
  const greeting = said("Tell them: 'Hello world, the café in Zürich is open. See example.com.' Thanks!");

  test.each([
    "Hello world",
    "hello world, the café in Zürich",
    "THE CAFÉ",
    "the cafe in Zurich",
    "See example.com",
  ])("%s", (value) => {
    expect(greeting.hasPhrase(value)).toBe(true);
  });

  test.each([
    "Hello there world",
    "hElLo wOrLd",
    "Hello world \u200b\u200c\u200b",
    "Hello world \u{e0041}\u{e0042}",
    "Hello .,,..,,. world",
    "He\u0300llo world",
    "Ｈello world",
    "Hello world 👍",
    "world.the",
    "",
  ])("not %s", (value) => {
    expect(greeting.hasPhrase(value)).toBe(false);
  });

  test("two messages are not one phrase", () => {
    expect(hear(["write to bob", "smith is ill"]).hasPhrase("bob smith")).toBe(false);
  });

  test("what they said not to do is not what they asked for", () => {
    const { asked } = said("Read it, but do not delete anything");
    expect(asked.has("read")).toBe(true);
    expect(asked.has("delete")).toBe(false);
  });
});
