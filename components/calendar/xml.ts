/** The part of XML that WebDAV servers answer with. Nothing is looked up anywhere, and no entity is declared. */
import { Refusal } from "./refusal.ts";

export interface Element {
  /** In small letters, without a prefix. */
  readonly name: string;
  readonly attributes: string;
  readonly children: Element[];
  text: string;
}

const MAX_ELEMENTS = 100_000;
const MAX_DEPTH = 50;
const NAMED: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

export function parseXml(text: string): Element {
  if (/<!DOCTYPE|<!ENTITY/i.test(text))
    throw new Refusal("The server's answer declares XML entities, which are not allowed.");
  const root: Element = { name: "", attributes: "", children: [], text: "" };
  const open = [root];
  let count = 0;
  let at = 0;
  while (at < text.length) {
    const parent = open.at(-1) ?? root;
    const next = text.indexOf("<", at);
    if (next !== at) parent.text += decode(text.slice(at, next === -1 ? text.length : next));
    if (next === -1) break;
    const [begin, finish] = text.startsWith("<![CDATA[", next)
      ? ["<![CDATA[", "]]>"]
      : text.startsWith("<!--", next)
        ? ["<!--", "-->"]
        : ["<", ">"];
    const end = text.indexOf(finish, next + begin.length);
    if (end === -1) throw broken();
    const inside = text.slice(next + begin.length, end);
    at = end + finish.length;
    if (begin === "<![CDATA[") parent.text += inside;
    if (begin !== "<" || inside.startsWith("?")) continue;
    if (inside.startsWith("/")) {
      const closed = open.pop();
      if (open.length === 0 || closed?.name !== localName(inside.slice(1).trim())) throw broken();
      continue;
    }
    if (++count > MAX_ELEMENTS || open.length > MAX_DEPTH)
      throw new Refusal("The server's answer has too many elements to read.");
    const isEmpty = inside.endsWith("/");
    const tag = isEmpty ? inside.slice(0, -1) : inside;
    const space = tag.search(/\s/);
    const element: Element = {
      name: localName(space === -1 ? tag : tag.slice(0, space)),
      attributes: space === -1 ? "" : tag.slice(space),
      children: [],
      text: "",
    };
    parent.children.push(element);
    if (!isEmpty) open.push(element);
  }
  if (open.length !== 1 || root.children.length === 0) throw broken();
  return root;
}

export function find(element: Element | undefined, ...path: readonly string[]): Element | undefined {
  return path.reduce<Element | undefined>(
    (from, name) => from?.children.find((child) => child.name === name),
    element,
  );
}

export const all = (element: Element | undefined, name: string): readonly Element[] =>
  element?.children.filter((child) => child.name === name) ?? [];

export const escapeXml = (text: string): string =>
  text.replace(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`);

function decode(text: string): string {
  return text.replace(/&(#x?[0-9a-f]{1,6}|[a-z]{1,8});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return NAMED[name] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
  });
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1).toLowerCase();
}

function broken(): Refusal {
  return new Refusal("The server's answer is not valid CalDAV XML.");
}
