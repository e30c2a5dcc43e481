import fc from "fast-check";
import { expect, test } from "vitest";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import { visible, visibleJson, visibleLine, withoutHidden } from "../../../kernel/text/visible.ts";

const EVIL = "a\u001b[2K\u001b]0;x\u0007b\r\u009b31mc\u202ed\u2066e\u200bf\u2028g\u007fh\u{e0041}i";
const HARMLESS = "Crème brûlée, 日本語, مرحبا, 👩‍👩‍👧, a\tb";

test("control, direction-changing and invisible characters are spelled out, all others stay", () => {
  expect(visible(EVIL)).toBe(
    "a\\u{1b}[2K\\u{1b}]0;x\\u{7}b\\u{d}\\u{9b}31mc\\u{202e}d\\u{2066}e\\u{200b}f\\u{2028}g\\u{7f}h\\u{e0041}i",
  );
  expect(visible(HARMLESS)).toBe(HARMLESS);
  expect(visible("one\r\ntwo\n")).toBe("one\ntwo\n");
  expect(visibleLine("one\ntwo\t")).toBe("one\\ntwo\\t");
  expect(withoutHidden(EVIL)).toBe("a[2K]0;xb31mcdefghi");
});

test("one variation selector belongs to its letter, a row of them is text that nobody sees", () => {
  expect(visible("❤\ufe0f 葛\u{e0100}")).toBe("❤\ufe0f 葛\u{e0100}");
  expect(visible("a\ufe0f\u{e0158}\u{e0159}b")).toBe("a\ufe0f\\u{e0158}\\u{e0159}b");
  expect(withoutHidden("a\ufe0f\u{e0158}\u{e0159}b")).toBe("a\ufe0fb");
});

test("JSON keeps its value and holds none of them", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.constant(EVIL)), (text) => {
      const json = visibleJson(JSON.stringify({ text }));
      expect(JSON.parse(json)).toEqual({ text });
      expect(visibleLine(json)).toBe(json);
    }),
  );
});

test.each([true, false])("no line of the log holds one, nor looks like two (pretty: %s)", (pretty) => {
  const lines: string[] = [];
  const log = createLog("info", createMask(), { pretty, write: (line) => void lines.push(line) });
  log.info({ said: EVIL, [EVIL]: [EVIL], error: new Error(EVIL) }, `${EVIL}\n[12:00:00] INFO: all is well`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of the log's own
  const shown = lines.join("").replace(/\u001b\[\d+m/g, "");
  expect(visible(shown)).toBe(shown);
  expect(shown).not.toMatch(/^\[12:00:00\]/m);
  for (const line of log.recent()) expect(visibleLine(line)).toBe(line);
});
