/** What a model reads of a PDF document that the host has read. */
import { describe, expect, test } from "vitest";
import { type Received, read } from "../../../components/read-page/read.ts";
import { ADDRESS, show } from "./pages.ts";

const TYPE = "application/vnd.postern.pdf+json";
const DOCUMENT = {
  pages: ["One\n\nTwo", "", "Three"],
  count: 3,
  title: "",
  author: "",
  created: "",
  language: "",
};

const received = (body: unknown): Received => ({
  status: 200,
  url: ADDRESS,
  contentType: TYPE,
  body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
});
const readBody = (body: unknown) => read(received(body), { url: ADDRESS });

describe("a PDF document", () => {
  test("comes page by page, and a page without text is left out", () => {
    expect(readBody(DOCUMENT)).toMatchObject({
      kind: "pdf",
      title: "site.example",
      sources: [{ url: ADDRESS, title: "site.example" }],
      content: "[Page 1]\n\nOne\n\nTwo\n\n[Page 3]\n\nThree",
    });
  });

  test("is shown with its title, author, date and language, each in one line", () => {
    const about = { title: "\u0000Über\n uns ", author: "A. B", created: "D:202401", language: "de" };
    expect(show(readBody({ ...DOCUMENT, ...about }))).toContain(
      "title: Über uns\nauthor: A. B\npublished: 2024-01-01\nlanguage: de\n",
    );
  });

  test("says if only its first pages were read", () => {
    expect(readBody({ ...DOCUMENT, count: 9 }).note).toBe(
      "The document is too large: only its first 3 pages were read.",
    );
  });

  test.each([
    [{ problem: "is protected by a password" }, "The PDF document is protected by a password."],
    ["{", "The PDF document cannot be read: it is damaged."],
    ["null", "The PDF document cannot be read: it is damaged."],
    [{ pages: "x", count: {}, title: [] }, "The PDF document cannot be read: it is damaged."],
  ])("that is none is refused in words (%j)", (body, words) => {
    expect(() => readBody(body)).toThrow(words);
  });

  test("is not read here if the host has not read it", () => {
    const body = Buffer.from("%PDF-1.7\n");
    expect(() => read({ ...received(""), contentType: "application/pdf", body }, { url: ADDRESS })).toThrow(
      "The address leads to a PDF document of 1 kB, which is not read here.",
    );
  });
});
