/** Tells what a person wrote in a mail from what it quotes or forwards, by structure; if unclear, others wrote it. */
import type { QuotedText } from "../../messaging/services.ts";

const MAX_LINE = 500;
const MAX_NAME = 100;
const MAX_ATTRIBUTION_LINES = 3;
const MAX_HEADER_LINES = 8;
const EARLIER = "an earlier mail";

/** `________`, `----- Original Message -----`, `---------- Forwarded message ---------`. */
const RULE = /^(?:[-_=*~#─━—–]{3,}|[-_=~─━—–]{2,}[ \t]?[^-_=~─━—–].{0,200}[-_=~─━—–]{2,})$/u;
/** `From: Eve`, also with stars for bold. */
const FIELD = /^\*{0,2}\p{L}[^:：]{0,30}[:：]\*{0,2}[ \t]*(?!\/\/)\S/u;
const ENDS_WITH_COLON = /[:：]$/;
const ADDRESS = /[^\s<>()[\]"':,;]{1,100}@[^\s<>()[\]"':,;]{1,100}/;
const TIME = /\d[:.h]\d\d/;
const DATE = /\d{4}|\d[./-]\d/;

export function splitQuoted(text: string): { readonly own: string; readonly quoted: readonly QuotedText[] } {
  const lines = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n").split("\n");
  const own: string[] = [];
  const quoted: QuotedText[] = [];
  for (let at = 0; at < lines.length; ) {
    if (RULE.test(trimmed(lines[at])) || isHeaderBlock(lines, at)) {
      const by = nameIn(
        lines
          .slice(at, at + MAX_HEADER_LINES)
          .map(trimmed)
          .join(" "),
        EARLIER,
      );
      quoted.push({ by, text: unquote(lines.slice(at)) });
      // "Begin forwarded message:"
      while (/^\s*$|[:：]\s*$/.test(own.at(-1) ?? "x")) own.pop();
      break;
    }
    const attribution = attributionAt(lines, at);
    const begin = at + (attribution?.lines ?? 0);
    if (attribution !== undefined && !isQuotedLine(lines[begin])) {
      // Some programs mark nothing after it: the rest is the other mail.
      quoted.push({ by: attribution.by, text: unquote(lines.slice(at)) });
      break;
    }
    if (isQuotedLine(lines[begin])) {
      const end = endOfQuote(lines, begin);
      quoted.push({ by: attribution?.by ?? EARLIER, text: unquote(lines.slice(at, end)) });
      at = end;
    } else own.push(lines[at++] ?? "");
  }
  return { own: own.join("\n").trim(), quoted: quoted.filter(({ text }) => text !== "") };
}

const isQuotedLine = (line: string | undefined) => line !== undefined && /^ ?>/.test(line);

/** A line right below a quoted one may be the rest of it, which the sender's program has wrapped. */
function endOfQuote(lines: readonly string[], begin: number): number {
  let end = begin;
  for (;;) {
    while (end < lines.length && (lines[end] ?? "").trim() !== "") end++;
    const next = nextText(lines, end);
    if (!isQuotedLine(lines[next])) return end;
    end = next;
  }
}

function nextText(lines: readonly string[], at: number): number {
  let next = at;
  while (next < lines.length && (lines[next] ?? "").trim() === "") next++;
  return next;
}

/** A run of lines with a word and a value, and an address or the time of a mail in one of them. */
function isHeaderBlock(lines: readonly string[], at: number): boolean {
  if (!FIELD.test(trimmed(lines[at]))) return false;
  const block = lines.slice(at, at + MAX_HEADER_LINES).map(trimmed);
  const end = block.findIndex((line, index) => line !== "" && !FIELD.test(line) && index > 0);
  const run = (end < 0 ? block : block.slice(0, end)).filter((line) => line !== "");
  const isOfMail = run.some((line) => ADDRESS.test(line)) || (run.length > 2 && run.some(isDated));
  return run.length > 1 && isOfMail;
}

const isDated = (line: string) => TIME.test(line) && DATE.test(line);

/** `On Tue, 3 Nov 2026 at 10:00, Ann <ann@example.org> wrote:` in any language, also over several lines. */
function attributionAt(
  lines: readonly string[],
  at: number,
): { readonly lines: number; readonly by: string } | undefined {
  const first = trimmed(lines[at]);
  if (first === "") return undefined;
  for (let count = 1; count <= MAX_ATTRIBUTION_LINES; count++) {
    const joined = lines
      .slice(at, at + count)
      .map(trimmed)
      .join(" ");
    const next = nextText(lines, at + count);
    const isBefore = isQuotedLine(lines[next]) && next <= at + count + 1;
    const isNamed = isDated(first) || (isBefore && (count === 1 || ADDRESS.test(first)));
    if (isNamed && ENDS_WITH_COLON.test(joined)) return { lines: next - at, by: nameIn(joined) };
    if (trimmed(lines[at + count]) === "" || isQuotedLine(lines[at + count])) return undefined;
  }
  return undefined;
}

function nameIn(text: string, otherwise = text.replaceAll("*", "").trim().slice(0, MAX_NAME)): string {
  return (ADDRESS.exec(text.slice(0, MAX_LINE * 2))?.[0] ?? otherwise) || EARLIER;
}

const trimmed = (line: string | undefined) => (line ?? "").slice(0, MAX_LINE).trim();

function unquote(lines: readonly string[]): string {
  return lines
    .map((line) => line.replace(/^(?: ?>){1,20} ?/, ""))
    .join("\n")
    .trim();
}
