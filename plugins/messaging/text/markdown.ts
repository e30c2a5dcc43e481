/** Markdown as a chat service shows it, in messages that keep to its limit and end between blocks where they can. */
import { Lexer, type Token, type Tokens } from "marked";
import { cutMarkdown, showsOtherAddress } from "../../../kernel/kit/text.ts";
import type { Part } from "../outbox.ts";
import type { TextFormat } from "../services.ts";
import { MAIL_HTML, MARKS, type Marks } from "./marks.ts";

/** A piece of text that stands on lines of its own. */
interface Block {
  readonly text: string;
  /** The blank lines before it. */
  readonly gap: string;
  /** In pieces of at most so many characters, should it be longer. */
  cut(limit: number): readonly string[];
}

const MAX_DEPTH = 12;
/** Longer answers are cut; nobody reads a hundred messages. */
const MAX_PARTS = 40;
const CUT = "…";

export function writeMessages(
  markdown: string,
  { format, characters }: { readonly format: TextFormat; readonly characters: number },
): readonly Part[] {
  const blocks = blocksOf(markdown, MARKS[format]);
  const texts = pack(blocks, characters);
  if (texts.length === 0) return [{ text: "" }];
  if (format === "mail" && texts.length === 1) {
    const html = blocksOf(markdown, MAIL_HTML).map(({ text }) =>
      /^<(?:pre|h3|hr|blockquote)\b/.test(text) ? text : `<p>${text.replaceAll("\n", "<br>\n")}</p>`,
    );
    return [{ text: texts[0] as string, html: html.join("\n") }];
  }
  if (texts.length <= MAX_PARTS) return texts.map((text) => ({ text }));
  return [...texts.slice(0, MAX_PARTS - 1), `${CUT} (${texts.length - MAX_PARTS + 1} more)`].map((text) => ({
    text,
  }));
}

/** As many blocks in each message as it holds. */
function pack(blocks: readonly Block[], limit: number): string[] {
  const texts: string[] = [];
  let open = "";
  const put = (text: string, gap: string) => {
    if (open === "") open = text;
    else if (open.length + gap.length + text.length <= limit) open += gap + text;
    else {
      texts.push(open);
      open = text;
    }
  };
  for (const block of blocks) {
    if (block.text.length <= limit) put(block.text, block.gap);
    else for (const piece of block.cut(limit)) put(piece, block.gap);
  }
  return open === "" ? texts : [...texts, open];
}

function blocksOf(markdown: string, marks: Marks): readonly Block[] {
  return cutMarkdown(markdown).flatMap((piece) => {
    if (piece.type === "code") return [codeBlock(piece.text, piece.language, marks)];
    if (piece.type === "plain") return [textBlock(piece.raw.trim(), marks)].filter(({ text }) => text !== "");
    return new Lexer({ gfm: true }).lex(piece.raw).flatMap((token) => blockOf(token, marks, 0));
  });
}

function blockOf(token: Token, marks: Marks, depth: number): readonly Block[] {
  switch (token.type) {
    case "space":
    case "def":
      return [];
    case "code":
      return [codeBlock(String(token["text"]), String(token["lang"] ?? ""), marks)];
    case "heading":
      return [inlineBlock(token as Tokens.Heading, marks, marks.heading)];
    case "hr":
      return [fixed(marks.rule, "\n\n")];
    case "list":
      return depth > MAX_DEPTH
        ? [textBlock(token.raw, marks)]
        : listBlocks(token as Tokens.List, marks, depth);
    case "table":
      return [tableBlock(token as Tokens.Table, marks)];
    case "blockquote": {
      if (depth > MAX_DEPTH) return [textBlock(token.raw, marks)];
      const inner = ((token as Tokens.Blockquote).tokens ?? []).flatMap((one) =>
        blockOf(one, marks, depth + 1),
      );
      return inner.map((block) => wrapped(block, marks.quote));
    }
    case "paragraph":
    case "text":
      return "tokens" in token && token.tokens
        ? [inlineBlock(token as Tokens.Paragraph, marks)]
        : [textBlock(String(token["text"] ?? token.raw), marks)];
    default:
      // Raw HTML is shown as it was written.
      return [textBlock(token.raw.trimEnd(), marks)];
  }
}

const fixed = (text: string, gap: string): Block => ({ text, gap, cut: (limit) => cutHard(text, limit) });

const wrapped = (block: Block, wrap: (inner: string) => string): Block => ({
  text: wrap(block.text),
  gap: block.gap,
  // Marks of a quote are few, but one stands on each line.
  cut: (limit) => block.cut(Math.max(1, Math.floor(limit * 0.8))).map(wrap),
});

const textBlock = (raw: string, marks: Marks): Block => ({
  text: marks.escape(raw),
  gap: "\n\n",
  cut: (limit) => packWords(wordsOf(raw, marks.escape, limit), limit),
});

function inlineBlock(
  token: { readonly tokens: Token[] },
  marks: Marks,
  wrap = (inner: string) => inner,
): Block {
  return {
    text: wrap(inline(token.tokens, marks)),
    gap: "\n\n",
    cut: (limit) => packWords(inlineWords(token.tokens, marks, wrap, limit), limit),
  };
}

function codeBlock(text: string, language: string, marks: Marks): Block {
  const show = (lines: readonly string[]) => marks.block(lines.join("\n"), language);
  return {
    text: show([text]),
    gap: "\n\n",
    cut: (limit) => groupLines(text.split("\n"), limit, show),
  };
}

/** In columns, as code: no chat service shows a table. */
function tableBlock({ header, rows }: Tokens.Table, marks: Marks): Block {
  const plain = (cells: readonly Tokens.TableCell[]) =>
    cells.map(({ tokens }) => inline(tokens, MARKS.plain));
  const all = [plain(header), ...rows.map(plain)];
  const widths = header.map((_, at) => Math.max(...all.map((cells) => (cells[at] ?? "").length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (at === cells.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join("  ")
      .trimEnd();
  const [head = "", ...body] = all.map(line);
  const rule = widths.map((width) => "-".repeat(Math.max(1, width))).join("  ");
  const show = (lines: readonly string[]) => marks.block([head, rule, ...lines].join("\n"), "");
  return { text: show(body), gap: "\n\n", cut: (limit) => groupLines(body, limit, show) };
}

function listBlocks(list: Tokens.List, marks: Marks, depth: number): readonly Block[] {
  const first = typeof list.start === "number" ? list.start : 1;
  return list.items.flatMap((item, at) => {
    const box = item.task ? (item.checked ? "☑ " : "☐ ") : "";
    const bullet = `${"  ".repeat(depth)}${list.ordered ? `${first + at}.` : "•"} ${box}`;
    const inner = item.tokens.flatMap((token) => blockOf(token, marks, depth + 1));
    return inner.map((block, place): Block => {
      // What is below an item has its own bullets.
      const lead = place === 0 ? marks.escape(bullet) : "";
      return {
        text: lead + block.text,
        gap: at === 0 && place === 0 && depth === 0 ? "\n\n" : "\n",
        cut: (limit) =>
          block.cut(limit - lead.length).map((piece, index) => (index === 0 ? lead + piece : piece)),
      };
    });
  });
}

function inline(tokens: readonly Token[], marks: Marks): string {
  return tokens.map((token) => inlineOne(token, marks)).join("");
}

function inlineOne(token: Token, marks: Marks): string {
  switch (token.type) {
    case "strong":
      return marks.strong(inline(token.tokens ?? [], marks));
    case "em":
      return marks.emphasis(inline(token.tokens ?? [], marks));
    case "del":
      return marks.deleted(inline(token.tokens ?? [], marks));
    case "codespan":
      return marks.code(String(token["text"]));
    case "br":
      return "\n";
    case "link":
    case "image": {
      const { href, text } = token as Tokens.Link;
      const write = (marks: Marks) =>
        token.type === "link" ? inline(token.tokens ?? [], marks) : marks.escape(text || href);
      const inner = write(marks);
      return isAddress(href) ? marks.link(inner, href, showsOtherAddress(write(MARKS.plain), href)) : inner;
    }
    case "escape":
      return marks.escape(String(token["text"]));
    case "text":
      return token.tokens ? inline(token.tokens, marks) : marks.escape(String(token["text"]));
    default:
      return marks.escape(token.raw);
  }
}

const isAddress = (href: string): boolean => /^(?:https?|mailto):/i.test(href) && URL.canParse(href);

/** Its words, each with the marks around it, so that a long paragraph can end a message between any two. */
function inlineWords(
  tokens: readonly Token[],
  marks: Marks,
  wrap: (inner: string) => string,
  limit: number,
): readonly string[] {
  return tokens.flatMap((token): readonly string[] => {
    const within = (around: (inner: string) => string) =>
      inlineWords(
        ("tokens" in token ? token.tokens : undefined) ?? [],
        marks,
        (inner) => wrap(around(inner)),
        limit,
      );
    switch (token.type) {
      case "strong":
        return within(marks.strong);
      case "em":
        return within(marks.emphasis);
      case "del":
        return within(marks.deleted);
      case "br":
        return ["\n"];
      case "link":
      case "image":
      case "codespan": {
        const whole = wrap(inlineOne(token, marks));
        // Too long for any message: its text alone, in pieces.
        return whole.length <= limit ? [whole] : wordsOf(String(token["text"]), marks.escape, limit);
      }
      default: {
        const raw = "text" in token ? String(token["text"]) : token.raw;
        return wordsOf(raw, (word) => (word.trim() === "" ? word : wrap(marks.escape(word))), limit);
      }
    }
  });
}

/** Words and the space between them; one that no message holds is cut. */
function wordsOf(raw: string, show: (word: string) => string, limit: number): readonly string[] {
  return (raw.match(/\s+|\S+/g) ?? []).flatMap((word) => {
    const shown = show(word);
    if (shown.length <= limit) return [shown];
    // Escaping makes a character at most six, and marks around it are short.
    return cutHard(word, Math.max(1, Math.floor(limit / 8))).map(show);
  });
}

/** A piece ends with a line if one ends in its second half, and between two words otherwise. */
function packWords(words: readonly string[], limit: number): readonly string[] {
  const pieces: string[] = [];
  let open = "";
  let lineEnd = 0;
  for (const word of words) {
    if (open !== "" && open.length + word.length > limit) {
      const end = lineEnd > limit / 2 ? lineEnd : open.length;
      pieces.push(open.slice(0, end).trimEnd());
      open = open.slice(end).trimStart();
      lineEnd = 0;
    }
    // No mark is open in the space between two words.
    if (word.trim() === "" && word.includes("\n")) lineEnd = open.length;
    open += open === "" ? word.trimStart() : word;
  }
  if (open.trim() !== "") pieces.push(open.trimEnd());
  return pieces.filter((piece) => piece !== "");
}

/** As many lines together as `show` makes fit; one that does not fit alone is cut. */
function groupLines(
  lines: readonly string[],
  limit: number,
  show: (lines: readonly string[]) => string,
): readonly string[] {
  const pieces: string[] = [];
  let open: string[] = [];
  for (const line of lines) {
    if (show([...open, line]).length <= limit) {
      open.push(line);
      continue;
    }
    if (open.length > 0) pieces.push(show(open));
    open = [];
    if (show([line]).length <= limit) open.push(line);
    else {
      const room = Math.max(1, Math.floor((limit - show([""]).length) / 6));
      for (const piece of cutHard(line, room)) pieces.push(show([piece]));
    }
  }
  return open.length > 0 ? [...pieces, show(open)] : pieces;
}

function cutHard(text: string, size: number): readonly string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length; ) {
    // A pair that stands for one character stays together.
    const isPair =
      size > 1 && from + size < text.length && text.slice(from, from + size).isWellFormed() === false;
    const to = from + size - (isPair ? 1 : 0);
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}
