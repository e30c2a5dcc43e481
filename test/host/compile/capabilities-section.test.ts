import { describe, expect, test } from "vitest";
import {
  readCapabilitiesSection,
  withCapabilitiesSection,
} from "../../../host/compile/capabilities-section.ts";

const EMPTY = Uint8Array.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]);

/** A custom section of that name. */
function custom(name: string, content: Uint8Array): Uint8Array {
  const text = Buffer.from(name);
  const size = 1 + text.length + content.length;
  const leb = [];
  for (let rest = size; ; rest >>>= 7) {
    leb.push(rest >= 0x80 ? (rest & 0x7f) | 0x80 : rest);
    if (rest < 0x80) break;
  }
  return Buffer.concat([Uint8Array.from([0, ...leb, text.length]), text, content]);
}

const NAME = "postern:capabilities";

describe("the capabilities section of a component", () => {
  test("is read as it was written, and writing again replaces it", () => {
    const once = withCapabilitiesSection(EMPTY, '{"version":"1.0.0"}');
    expect(readCapabilitiesSection(once)).toBe('{"version":"1.0.0"}');
    const other = Buffer.concat([once, custom("producers", Buffer.from("x"))]);
    const twice = withCapabilitiesSection(other, "two");
    expect(readCapabilitiesSection(twice)).toBe("two");
    expect(twice.length).toBe(other.length - '{"version":"1.0.0"}'.length + "two".length);
  });

  test("is absent in a component without one, and in what is no component at all", () => {
    expect(readCapabilitiesSection(EMPTY)).toBeUndefined();
    expect(readCapabilitiesSection(new Uint8Array())).toBeUndefined();
    expect(readCapabilitiesSection(Buffer.from("not a component, but text"))).toBeUndefined();
    const cut = withCapabilitiesSection(EMPTY, "text").subarray(0, -1);
    expect(readCapabilitiesSection(cut)).toBeUndefined();
  });

  test("inside another section's bytes is not one", () => {
    const hidden = custom("other", custom(NAME, Buffer.from("{}")));
    expect(readCapabilitiesSection(Buffer.concat([EMPTY, hidden]))).toBeUndefined();
  });

  test.each([
    ["two of them", Buffer.concat([custom(NAME, Buffer.from("a")), custom(NAME, Buffer.from("b"))]), /has 2/],
    ["more than 256 KB", custom(NAME, new Uint8Array(262_145)), /262145 bytes/],
    ["what is not UTF-8", custom(NAME, Uint8Array.from([0xff, 0xfe])), /not UTF-8/],
  ])("is refused with %s", (_what, sections, why) => {
    expect(() => readCapabilitiesSection(Buffer.concat([EMPTY, sections]))).toThrow(why);
  });
});
