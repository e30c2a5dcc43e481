import { expect, test } from "vitest";
import { createKeyRewriter } from "../../../plugins/tui/screen/key-encoding.ts";

test("a key in xterm's form is rewritten to Kitty's, wherever it is cut after its beginning", () => {
  const sent = "one\u001b[27;2;13~two\u001b[27;5;105~\u001b[A three";
  for (let at = 0; at <= sent.length; at++) {
    // An escape character alone is the Esc key, and must not wait for more.
    if (["\u001b", "\u001b["].some((beginning) => sent.slice(0, at).endsWith(beginning))) continue;
    const rewrite = createKeyRewriter();
    const read = rewrite(sent.slice(0, at)) + rewrite(sent.slice(at));
    expect(read).toBe("one\u001b[13;2utwo\u001b[105;5u\u001b[A three");
  }
});

test("what is no such key is passed on at once, a lone escape too", () => {
  const rewrite = createKeyRewriter();
  for (const piece of ["\u001b", "[", "\u001b[A", "\u001b[2~", "\u001b[13;2u", "[27;2;13~"])
    expect(rewrite(piece)).toBe(piece);
});

test("the terminal's name is told and is no key, wherever it is cut", () => {
  const sent = "a\u001bP>|kitty(0.35.2)\u001b\\b";
  for (let at = 0; at <= sent.length; at++) {
    const named: string[] = [];
    const rewrite = createKeyRewriter((name) => named.push(name));
    const read = rewrite(sent.slice(0, at)) + rewrite(sent.slice(at));
    expect([read.replace("\u001b", ""), named]).toEqual(["ab", ["kitty(0.35.2)"]]);
  }
});
