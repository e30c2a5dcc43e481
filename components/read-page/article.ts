/** The main text of an HTML page, and what is known about it. */
import { Readability } from "@mozilla/readability";
import { resolve } from "./address.ts";
import { type Document, type Element, isElement } from "./dom.ts";
import { parseHtml } from "./html.ts";
import { fold, toMarkdown } from "./markdown.ts";
import { findObstacle } from "./obstacle.ts";

/** More is cut off before it is parsed: a page of words is smaller, and parsing takes time and memory. */
const MAX_HTML = 3 << 20;
/** With less than this share of the page's text, what Readability took is not the page: a forum, a shop, a list. */
const MIN_SHARE = 0.5;
/** Characters of text from which on searching for the article takes longer than all the rest. */
const LONG = 20_000;
const MARKED_SHARE = 0.8;
const BEGINNING = 8_000;
/** Readability goes through the nodes dozens of times. A page with more of them is read as the text of its main part. */
const MAX_SEARCHED = 40_000;
const MAX_SEARCHED_TEXT = 1_000_000;

export function readArticle(html: string, url: string) {
  const cut = html.slice(0, MAX_HTML);
  const document = parseHtml(cut);
  const base = (document.base === undefined ? undefined : resolve(document.base, url)) ?? url;
  const main = mainOf(document);
  const all = measure(main);
  const { obstacle, notes } = findObstacle(document, all.text);
  const declared = declaredAbout(document);
  const marked = all.length > LONG ? markedIn(main, all) : undefined;
  const isSearched =
    marked === undefined && document.nodes <= MAX_SEARCHED && all.length <= MAX_SEARCHED_TEXT;
  const found = search(isSearched ? document : parseHtml(beginningOf(cut)));
  const isWhole = found?.content == null || (found.length ?? 0) < all.length * MIN_SHARE;
  const content =
    isSearched && !isWhole
      ? toMarkdown(found.content as Element, { base, isLeftOut: isNamedChrome })
      : // Readability has taken its copy apart.
        toMarkdown(marked ?? mainOf(isSearched ? parseHtml(cut) : document), { base, isLeftOut: isChrome });
  const isCut = html.length > MAX_HTML || document.isCut;
  return {
    title: found?.title || declared.title,
    ...some("author", found?.byline ?? undefined),
    ...some("published", found?.publishedTime ?? declared.published),
    ...some("language", found?.lang ?? declared.language),
    ...some("site", found?.siteName ?? undefined),
    content,
    notes: [...notes, ...(isCut ? [CUT] : [])],
    /** One sentence about what was there in place of a text. */
    ...(obstacle !== undefined && { obstacle }),
  };
}

function search(document: Document) {
  return new Readability<Element>(document as never, {
    serializer: (element) => element as never,
    keepClasses: true,
    charThreshold: 200,
  }).parse();
}

/** A long page that says itself which element is its text need not be searched for it, which takes most of the time. */
function markedIn(main: Element, { length, articles }: Measured): Element | undefined {
  const [article, another] = articles;
  if (article !== undefined && another === undefined && article.length >= length * MARKED_SHARE)
    return article.element;
  return main.localName === "main" ? main : undefined;
}

/** As much of a page as says its title, author and date. */
function beginningOf(html: string): string {
  const start = html.search(/<(article|main|h1)[\s>]/i);
  return html.slice(0, Math.max(0, start) + BEGINNING);
}

const CUT = "The page is too large: only its first part was read.";

function some<Name extends string>(name: Name, value: string | undefined): { [key in Name]?: string } {
  const text = fold(value ?? "")
    .trim()
    .slice(0, 200);
  return text === "" ? {} : ({ [name]: text } as { [key in Name]?: string });
}

/** Reads what Readability does not return if it finds no article. */
function declaredAbout(document: Document) {
  const { head, body } = document;
  const dates = [
    ...head
      .getElementsByTagName("meta")
      .flatMap((meta) =>
        DATE_NAMES.test(meta.getAttribute("name") ?? "") ? [meta.getAttribute("content")] : [],
      ),
    ...head
      .getElementsByTagName("script")
      .map(({ textContent }) => /"datePublished"\s*:\s*"([^"]{4,40})"/.exec(textContent)?.[1]),
    ...body
      .getElementsByTagName("time")
      .flatMap((time) =>
        /publish/i.test(`${time.getAttribute("itemprop")} ${time.className}`)
          ? [time.getAttribute("datetime")]
          : [],
      ),
  ];
  return {
    title: fold(document.title || (body.getElementsByTagName("h1")[0]?.textContent ?? "")).trim(),
    published: dates.find((date) => date != null) ?? undefined,
    language: document.documentElement.getAttribute("lang") ?? undefined,
  };
}

const DATE_NAMES = /^(date|pubdate|publish-?date|dc\.date|dcterms\.(date|created|issued))$/i;

/** Around the text on most pages; inside an article, a header or a footer is a part of it. */
const CHROME = new Set("nav aside footer form dialog".split(" "));
const ASIDE_IN_TEXT = /\b(note|tip|warning|caution|danger|info|admonition|callout|footnotes?)\b/i;
const CHROME_ROLES = /^(navigation|banner|contentinfo|search|dialog|alertdialog|complementary|menu|toolbar)$/;
const CHROME_NAMES =
  /(^|[\s_-])(ads?|advert\w*|banner|breadcrumbs?|consent|cookies?|menu|modal|nav|navbar|newsletter|popup|promo|related|share|sharing|sidebar|skip(-?link)?|social|sponsored|subscribe|toolbar)([\s_-]|$)/i;

function isChrome(element: Element): boolean {
  const { localName } = element;
  if (localName === "aside" && ASIDE_IN_TEXT.test(element.className)) return false;
  if (CHROME.has(localName) || (localName === "header" && element.parentNode?.localName === "body"))
    return true;
  if (element.attributes.length === 0) return false;
  if (element.hasAttribute("hidden") || element.getAttribute("aria-hidden") === "true") return true;
  const { display, visibility } = element.style;
  if (display === "none" || visibility === "hidden") return true;
  if (CHROME_ROLES.test(element.getAttribute("role") ?? "")) return true;
  return isNamedChrome(element);
}

function mainOf({ body }: Document): Element {
  const mains = body.getElementsByTagName("main");
  const [only] = mains;
  return mains.length === 1 && only !== undefined ? only : body;
}

interface Measured {
  readonly text: string;
  readonly length: number;
  readonly articles: readonly { readonly element: Element; readonly length: number }[];
}

/** The text of a part of the page, without what is around it. */
function measure(root: Element): Measured {
  const parts: string[] = [];
  const articles: { element: Element; length: number }[] = [];
  let length = 0;
  const walk = (element: Element) => {
    const before = length;
    for (let child = element.firstChild; child !== null; child = child.nextSibling) {
      if (isElement(child)) {
        if (!isChrome(child)) walk(child);
      } else {
        parts.push(child.textContent);
        length += child.textContent.length;
      }
    }
    if (element.localName === "article") articles.push({ element, length: length - before });
  };
  walk(root);
  const text = fold(parts.join(" ")).trim();
  return { text, length: text.length, articles };
}

const judged = new Map<string, boolean>();

/** By its class and its ID. Pages use the same few names again and again. */
function isNamedChrome({ localName, className, id }: Element): boolean {
  if (localName === "nav") return true;
  const names = `${className} ${id}`;
  if (names === " " || localName === "article" || localName === "main") return false;
  let is = judged.get(names);
  if (is === undefined) {
    is = CHROME_NAMES.test(names);
    judged.set(names, is);
  }
  return is;
}
