/** The text of a PDF document as the host read it, page by page: `pdf_as_text` in the capabilities file asks for that. */

/** The type of the host's answer. */
export const PDF_AS_TEXT = "application/vnd.postern.pdf+json";

export function readPdf(text: string) {
  const { pages: given, count, problem, title, author, created, language } = parse(text);
  const pages = Array.isArray(given) ? given.map(String) : [];
  const written = pages.flatMap((page, at) => (page === "" ? [] : [`[Page ${at + 1}]\n\n${page}`]));
  return {
    title: line(title),
    ...some("author", line(author)),
    ...some("published", dateOf(line(created))),
    ...some("language", line(language)),
    content: written.join("\n\n"),
    notes:
      pages.length < Number(count)
        ? [`The document is too large: only its first ${pages.length} pages were read.`]
        : [],
    /** Why there is no text: the rest of a sentence about the document. */
    ...(written.length === 0 && { obstacle: line(problem) || "cannot be read: it is damaged" }),
  };
}

type Answer = Readonly<
  Partial<Record<"pages" | "count" | "title" | "author" | "created" | "language" | "problem", unknown>>
>;

/** A server can send anything with this type, too. */
function parse(text: string): Answer {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function some<Name extends string>(name: Name, value: string): { [key in Name]?: string } {
  return value === "" ? {} : ({ [name]: value } as { [key in Name]?: string });
}

function line(value: unknown): string {
  return typeof value === "string"
    ? value
        .replace(/[\s\0]+/g, " ")
        .trim()
        .slice(0, 200)
    : "";
}

/** "D:20240131120000+01'00'" */
function dateOf(written: string): string {
  const [, year, month = "01", day = "01"] = /^D:(\d{4})(\d{2})?(\d{2})?/.exec(written) ?? [];
  return year === undefined ? "" : `${year}-${month}-${day}`;
}
