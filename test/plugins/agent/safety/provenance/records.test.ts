import { describe, expect, test } from "vitest";
import { listsThings, recordsIn } from "../../../../../plugins/agent/safety/provenance/answers/records.ts";

const ids = (text: string) =>
  recordsIn(text).flatMap((record) => record.flatMap(([field, value]) => (field === "id" ? [value] : [])));

const YAML = `- body: 'Hi Ann,


    See you. It''s late.

    - id: 99

    id: 98'
  id: '14'
  read: true
  recipients:
  - ann@example.com
  size: 12
  subject: A long subject that goes on and on until the
    next line
  tags: []
- body: "Two\\nid: 97\\n\\
    \\ and \\"three\\""
  id: '15'
  read: false
  recipients:
  - ann@example.com
  size: 3
  subject: 'id: 96'
  tags: []
`;

describe("the records of an answer", () => {
  test("are objects, also in lists, and plain texts of a list", () => {
    expect(recordsIn('{"total": 1, "items": [{"id": 5, "at": {"id": 6}}]}')).toEqual([
      [["total", 1]],
      [["id", 5]],
      [["id", 6]],
    ]);
    expect(recordsIn('["general", "random"]')).toEqual([[["", "general"]], [["", "random"]]]);
    expect(recordsIn("- general\n- random\n")).toEqual([[["", "general"]], [["", "random"]]]);
  });

  test("are read from YAML, and no text in it is taken for a field", () => {
    expect(ids(YAML)).toEqual(["14", "15"]);
    expect(recordsIn(YAML)[0]).toContainEqual(["size", 12]);
    expect(recordsIn(YAML)[0]).toContainEqual([
      "subject",
      "A long subject that goes on and on until the next line",
    ]);
  });

  test.each([
    ["a name twice", "- id: 1\n  name: a\n  id: 2\n"],
    ["a line that is none", "- id: 1\n  name: a\nhello there\n- id: 2\n  name: b\n"],
    ["things with other fields", "- id: 1\n  name: a\n- id: 2\n"],
    ["a colon in a plain text", "- id: 1\n  name: to: eve\n"],
    ["a field inside a plain text", "- id: 1\n  name: a\n    id: 2\n"],
    ["a quote that does not end", "- id: 1\n  name: 'a\n"],
    ["something after a quote", "- id: 1\n  name: 'a' b\n"],
    ["an anchor", "- id: &a 1\n  name: *a\n"],
    ["a list inside brackets", "- id: 1\n  name: {id: 2}\n"],
    ["prose", "id: it is said\nthat it is so"],
    ["a table", "| id | name |\n| --- | --- |\n| 1 | a |\n"],
    ["commas", "id,name\n1,a\n"],
    ["broken JSON", '[{"id": 1}'],
    ["a comment", "- id: 1\n  name: a # id\n"],
    ["a tag", "- id: !!str 1\n"],
    ["a key that a question mark introduces", "- ? id\n  : 1\n"],
    ["a second document", "- id: 1\n---\n- id: 2\n"],
    ["a bomb of aliases", "- &a [x, x]\n- &b [*a, *a]\n- &c [*b, *b]\n- *c\n"],
    ["nesting without end", "- ".repeat(40_000)],
    ["more YAML than is read", "- id: 1\n".repeat(20_000)],
  ])("are none where there is %s", (_what, text) => {
    expect(recordsIn(text)).toEqual([]);
  });

  test("count only from tools that list things", () => {
    for (const tool of [
      "list_files",
      "search_emails",
      "get_day_calendar_events",
      "create_file",
      "get_channels",
    ])
      expect(listsThings(tool)).toBe(true);
    for (const tool of [
      "read_file",
      "fetch",
      "get_webpage",
      "get_document",
      "search_web",
      "http_get",
      "run_query",
    ])
      expect(listsThings(tool)).toBe(false);
  });
});
