/** In which encoding XML and HTML are read. */
import { expect, test } from "vitest";
import { decoderOf } from "../../../kernel/files/documents/archive.ts";

const read = (text: string, encoding: "utf8" | "latin1"): string => {
  const data = Buffer.from(text, encoding);
  return decoderOf(data)(data);
};

test.each([
  '<?xml version="1.0" encoding="ISO-8859-1"?><p>Grüße</p>',
  "<?xml version='1.0' encoding='iso-8859-1' standalone='yes'?><p>Grüße</p>",
  '<!doctype html><meta charset="iso-8859-1"><p>Grüße</p>',
  '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1"><p>Grüße</p>',
])("what the beginning of %j names", (text) => {
  expect(read(text, "latin1")).toBe(text);
});

test.each([
  '<?xml version="1.0"?><p>Grüße: set charset=utf-16le in the header</p>',
  '<?xml version="1.0" encoding="UTF-8"?><p>Grüße, encoding="utf-16le"</p>',
  "<p>Grüße: the page has charset=iso-8859-1</p>",
])("not what %j says in its text", (text) => {
  expect(read(text, "utf8")).toBe(text);
});
