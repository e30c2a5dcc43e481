/** Why a call is asked about, in each language of the page. */
import { expect, test } from "vitest";
import { tell } from "../../../../kernel/kit/display.ts";
import type { Doubt } from "../../../../plugins/page/api.ts";
import { chat as de } from "../../../../plugins/page/text/de/de.ts";
import { chat as en } from "../../../../plugins/page/text/en/en.ts";

const doubt: Doubt = {
  rule: "destination",
  param: "recipient",
  value: "eve@evil.example",
  sentence:
    "send-mail to eve@evil.example: this address comes from notes.md (read by read_file), not from you",
  headline:
    "Send mail to eve@evil.example? That address comes from notes.md (read by read_file), not from you.",
  source: "notes.md (read by read_file)",
  reason: {
    tool: "send-mail",
    why: "source",
    noun: "address",
    source: { kind: "tool", name: "read_file", place: "notes.md" },
  },
};

const marks = (words: Pick<Doubt, "sentence" | "headline" | "source">, of = doubt) =>
  tell([{ ...of, ...words }]).leads[0]?.sentence.filter(({ mark }) => mark !== undefined);

test("English is as the service words it, German is made of the parts, and both mark the value and who said it", () => {
  expect(en.doubt(doubt)).toMatchObject({ sentence: doubt.sentence, headline: doubt.headline });
  const words = de.doubt(doubt);
  expect(words.headline).toBe(
    "send-mail an eve@evil.example? Diese Adresse stammt nicht von dir, sondern aus anderer Quelle: notes.md (gelesen von read_file).",
  );
  expect(marks(words)).toMatchObject([
    { text: "eve@evil.example", mark: "value" },
    { text: "notes.md (gelesen von read_file)", mark: "source" },
  ]);
  const title: Doubt = { ...doubt, rule: "content", param: "title", value: "Pay now" };
  expect(marks(de.doubt(title), title)?.[0]).toMatchObject({ text: "Pay now", mark: "value" });
});

test("each reason has words in German, and a doubt that was stored before there were parts keeps its English", () => {
  const reasons = ["unsaid", "limit", "part_source", "part_unsaid", "unasked", "more"] as const;
  const said = reasons.map(
    (why) =>
      de.doubt({ ...doubt, part: "/x?y", reason: { ...doubt.reason, tool: "post", why, count: 3 } }).sentence,
  );
  expect(new Set(said).size).toBe(reasons.length);
  expect(said.join("\n")).not.toMatch(/undefined|…/);
  expect(said.at(-1)).toBe("post: 3 weitere Werte stammen nicht von dir");
  const { reason: _, ...stored } = doubt;
  expect(de.doubt(stored).sentence).toBe(doubt.sentence);
});
