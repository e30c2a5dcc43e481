import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canBeHidden } from "../../../kernel/mask/forms.ts";
import { createHidingStream, createMatcher } from "../../../kernel/mask/matcher.ts";
import { SECRET_FORMS } from "../../support/secret-forms.ts";

/** Few letters, so that values begin alike, contain and overlap each other. */
const crowded = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀"), minLength: 6, maxLength: 12 });
const crowdedText = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀", " "), maxLength: 80 });

/** Every place of every value, looked for one by one; what overlaps is one. */
function hideSlowly(text: string, values: readonly string[]): string {
  const isHidden = new Array<boolean>(text.length).fill(false);
  // True where a match goes on into this place, so that matches that only touch stay two.
  const isJoined = new Array<boolean>(text.length).fill(false);
  for (const value of values) {
    for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
      isHidden.fill(true, at, at + value.length);
      isJoined.fill(true, at + 1, at + value.length);
    }
  }
  return text
    .split("")
    .map((unit, at) => (!isHidden[at] ? unit : isJoined[at] ? "" : "[secret]"))
    .join("");
}

describe("matching", () => {
  test("finds what a plain search for each value finds, and hides overlaps whole", () => {
    fc.assert(
      fc.property(fc.array(crowded, { maxLength: 6 }), crowdedText, (values, text) => {
        const cased = values.flatMap((value) => [value, value.toLowerCase(), value.toUpperCase()]);
        const { hide, finds, scrub } = createMatcher(values);
        const expected = hideSlowly(text, cased);
        expect(hide(text)).toBe(expected);
        expect(Buffer.from(scrub(Buffer.from(text))).toString()).toBe(expected);
        expect(finds(text)).toBe(expected !== text);
      }),
      { numRuns: 300 },
    );
  });

  test("whatever the secret is and wherever it stands, it is found and replaced, and nothing else is", () => {
    const secret = fc.string({ unit: "grapheme", minLength: 6, maxLength: 40 });
    const around = fc.uint8Array({ maxLength: 20 });
    const form = fc.constantFrom(...Object.values(SECRET_FORMS));
    fc.assert(
      fc.property(secret, around, around, form, (value, before, after, write) => {
        const matcher = createMatcher(["another-secret", value]);
        const bytes = Buffer.concat([before, Buffer.from(write(value)), after]);
        expect(matcher.finds(bytes)).toBe(true);
        const scrubbed = Buffer.from(matcher.scrub(bytes));
        expect(scrubbed.includes(Buffer.from(write(value)))).toBe(false);
        expect(scrubbed.includes("[secret]")).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("bytes and texts that hold no secret come back untouched, however many secrets there are", () => {
    const matcher = createMatcher(Array.from({ length: 50 }, (_, index) => `secret-number-${index}-x`));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), fc.string({ unit: "binary" }), (bytes, text) => {
        expect(matcher.scrub(bytes)).toBe(bytes);
        expect(matcher.hide(text)).toBe(text);
      }),
    );
    expect(createMatcher([]).finds("anything at all")).toBe(false);
  });

  test("a value under six characters is not looked for, and one of six is", () => {
    expect(createMatcher(["12345"]).hide("12345 and 3132333435")).toBe("12345 and 3132333435");
    expect(createMatcher(["123456"]).hide("123456 and 313233343536")).toBe("[secret] and [secret]");
    expect(["", "12345", "ééééé", "123456"].map(canBeHidden)).toEqual([false, false, false, true]);
  });

  test("a value that begins with zero bytes is not found where the text begins with the rest", () => {
    expect(createMatcher(["\0\0\0abcdef"]).hide("abcdef")).toBe("abcdef");
  });
});

describe("matching in a stream", () => {
  const cutUp = (text: string, cuts: readonly number[]): string[] => {
    const pieces: string[] = [];
    let at = 0;
    for (const cut of cuts) {
      pieces.push(text.slice(at, at + cut));
      at += cut;
    }
    return [...pieces, text.slice(at)];
  };
  const streamed = (values: readonly string[], pieces: readonly string[]): string => {
    const { automaton } = createMatcher(values);
    const stream = createHidingStream(() => automaton);
    return pieces.map((piece) => stream.push(piece)).join("") + stream.end();
  };
  const cuts = fc.array(fc.nat({ max: 9 }), { maxLength: 40 });

  test("hides the same however the text is cut, even through a character", () => {
    fc.assert(
      fc.property(fc.array(crowded, { maxLength: 6 }), crowdedText, cuts, (values, text, places) => {
        expect(streamed(values, cutUp(text, places))).toBe(createMatcher(values).hide(text));
      }),
      { numRuns: 400 },
    );
  });

  test("hides every form the same however the text is cut", () => {
    const form = fc.constantFrom(...Object.values(SECRET_FORMS));
    const value = fc.string({ unit: "grapheme", minLength: 6, maxLength: 20 });
    fc.assert(
      fc.property(value, form, fc.string(), cuts, (secret, write, around, places) => {
        const text = `${around}${write(secret)}${around}`;
        expect(streamed([secret], cutUp(text, places))).toBe(createMatcher([secret]).hide(text));
      }),
      { numRuns: 200 },
    );
  });

  test("holds back only what may become a known value", () => {
    const { automaton } = createMatcher(["swordfish", "swordfish-42"]);
    const { push, end } = createHidingStream(() => automaton);
    expect(push("the sword")).toBe("the ");
    expect(push(" is")).toBe("sword i");
    expect(push("land, swordfish")).toBe("sland, ");
    expect(push("-4")).toBe("");
    expect(push("2, swordfish")).toBe("[secret], ");
    expect(push("!")).toBe("[secret]!");
    expect(push("swor") + end()).toBe("swor");
  });

  test("a value that becomes known on the way is hidden, even where its first half is held for another", () => {
    const first = createMatcher(["swordfish"]).automaton;
    const second = createMatcher(["swordfish", "sword-42"]).automaton;
    let current = first;
    const { push, end } = createHidingStream(() => current);
    expect(push("a sword")).toBe("a ");
    current = second;
    expect(push("-4")).toBe("");
    expect(push("2") + end()).toBe("[secret]");
  });

  test("a value that repeats itself without end is neither shown nor held", () => {
    const { automaton } = createMatcher(["aaaaaaaa"]);
    const { push, end } = createHidingStream(() => automaton);
    let shown = "";
    for (let count = 0; count < 5000; count++) shown += push("aaa");
    expect(shown + push(" done") + end()).toBe("[secret] done");
  });
});

test("a megabyte of the worst text is done as soon as any other", () => {
  // Anything worse than linear would take minutes here.
  const values = [`${"a".repeat(4000)}b`, `${"a".repeat(2000)}c`, `${"ab".repeat(2000)}c`];
  const { hide, automaton } = createMatcher(values);
  for (const unit of ["a", "ab", "aab", `${"a".repeat(3999)}c`, "ab".repeat(1999), "616161", "%61"]) {
    const text = unit.repeat(Math.ceil(1_000_000 / unit.length));
    expect(hide(text).length).toBeLessThanOrEqual(text.length);
    const stream = createHidingStream(() => automaton);
    let shown = "";
    for (let at = 0; at < text.length; at += 5000) shown += stream.push(text.slice(at, at + 5000));
    expect(shown + stream.end()).toBe(hide(text));
  }
});
