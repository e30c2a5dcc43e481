import fc from "fast-check";
import stringWidth from "string-width";
import { expect, test } from "vitest";
import {
  draftOf,
  EMPTY,
  erase,
  insert,
  layOut,
  type Motion,
  move,
  moveRow,
} from "../../../plugins/tui/screen/composer.ts";

const text = fc.string({ unit: "grapheme", maxLength: 60 }).map((each) => each.replaceAll("\r", "\n"));
const motion = fc.constantFrom<Motion>("left", "right", "wordLeft", "wordRight", "lineStart", "lineEnd");
const graphemes = (each: string) => [...new Intl.Segmenter().segment(each)].map(({ segment }) => segment);

test("no key sequence moves the cursor out of the text or loses anything else", () => {
  fc.assert(
    fc.property(
      text,
      fc.array(fc.oneof(motion, fc.constant("erase" as const), text), { maxLength: 30 }),
      (begun, acts) => {
        let draft = draftOf(begun);
        for (const act of acts) {
          const before = draft;
          if (act === "erase") draft = erase(draft, "left");
          else if (/^(left|right|word|line)/.test(act)) draft = move(draft, act as Motion);
          else draft = insert(draft, act);
          expect(draft.cursor).toBeGreaterThanOrEqual(0);
          expect(draft.cursor).toBeLessThanOrEqual(draft.text.length);
          if (act === "erase") expect(before.text.startsWith(draft.text.slice(0, draft.cursor))).toBe(true);
        }
      },
    ),
  );
});

test("wrapped to any width, the rows hold the whole text and none is too wide", () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 4, max: 40 }), (each, width) => {
      const { rows, cursor } = layOut(draftOf(each), width);
      expect(rows.map((row) => row.text).join("")).toBe(each.replaceAll("\n", ""));
      for (const row of rows) {
        if (graphemes(row.text).length > 1) expect(stringWidth(row.text)).toBeLessThan(width);
      }
      expect(cursor.row).toBe(rows.length - 1);
    }),
  );
});

test("up and down keep the column if the row is long enough", () => {
  const draft = { text: "世界abc\nxy\n12345", cursor: 5 };
  const down = moveRow(draft, 40, 1);
  expect(down?.cursor).toBe("世界abc\nxy".length);
  expect(moveRow({ text: "世界abc\n12345678", cursor: 2 }, 40, 1)?.cursor).toBe("世界abc\n1234".length);
  expect(moveRow(draft, 40, -1)).toBeUndefined();
});

test("words are erased whole", () => {
  expect(erase(draftOf("one two  "), "wordLeft")).toEqual({ text: "one ", cursor: 4 });
  expect(erase({ text: "one two", cursor: 3 }, "wordRight")).toEqual({ text: "one", cursor: 3 });
  expect(erase(EMPTY, "wordLeft")).toEqual(EMPTY);
});
