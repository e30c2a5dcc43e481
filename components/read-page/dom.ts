/**
 * Documents, as far as Readability and the Markdown writer use them. A general-purpose DOM took three times as long
 * inside the sandbox, where nothing is compiled just in time, and has no bound on what it builds.
 */

const ELEMENT = 1;
const TEXT = 3;

abstract class Node {
  abstract readonly nodeType: number;
  parentNode: Element | undefined;
  nextSibling: Node | null = null;
  previousSibling: Node | null = null;
  abstract textContent: string;
  abstract cloneNode(): Node;

  get parentElement(): Element | undefined {
    return this.parentNode;
  }

  get nextElementSibling(): Element | null {
    return nextElement(this.nextSibling);
  }

  get previousElementSibling(): Element | null {
    let node = this.previousSibling;
    while (node !== null && !isElement(node)) node = node.previousSibling;
    return node;
  }

  remove(): void {
    this.parentNode?.removeChild(this);
  }
}

const NO_NODES: readonly Node[] = [];

export class Text extends Node {
  readonly nodeType = TEXT;
  readonly nodeName = "#text";
  readonly childNodes = NO_NODES;
  textContent: string;

  constructor(text: string) {
    super();
    this.textContent = text;
  }

  cloneNode(): Text {
    return new Text(this.textContent);
  }
}

/** Stands for `innerHTML` that is only kept and put back: a copy costs less than text that is parsed again. */
class Snapshot {
  readonly nodes: readonly Node[];

  constructor(element: Element) {
    this.nodes = element.childNodes.map((node) => node.cloneNode());
  }
}

class Attribute {
  readonly name: string;
  value: string;

  constructor(name: string, value: string) {
    this.name = name;
    this.value = value;
  }

  cloneNode(): Attribute {
    return new Attribute(this.name, this.value);
  }
}

export class Element extends Node {
  readonly nodeType = ELEMENT;
  readonly localName: string;
  readonly tagName: string;
  attributes: Attribute[] = [];
  firstChild: Node | null = null;
  lastChild: Node | null = null;
  readonly ownerDocument: Document;
  // Private to the compiler only: what is private to the engine costs a check at every access.
  private nodeList: Node[] | undefined;
  private elementList: Element[] | undefined;

  constructor(name: string, document: Document) {
    super();
    this.localName = name;
    this.tagName = upperCase(name);
    this.ownerDocument = document;
    document.names.add(name);
  }

  get nodeName(): string {
    return this.tagName;
  }

  get childNodes(): Node[] {
    if (this.nodeList === undefined) {
      this.nodeList = [];
      for (let node = this.firstChild; node !== null; node = node.nextSibling) this.nodeList.push(node);
    }
    return this.nodeList;
  }

  get children(): Element[] {
    this.elementList ??= this.childNodes.filter(isElement);
    return this.elementList;
  }

  get firstElementChild(): Element | null {
    return nextElement(this.firstChild);
  }

  getAttribute(name: string): string | null {
    for (const attribute of this.attributes) if (attribute.name === name) return attribute.value;
    return null;
  }

  hasAttribute(name: string): boolean {
    return this.getAttribute(name) !== null;
  }

  setAttribute(name: string, value: string): void {
    const known = this.attributes.find((attribute) => attribute.name === name);
    if (known === undefined) this.attributes.push(new Attribute(name, value));
    else known.value = value;
  }

  setAttributeNode({ name, value }: Attribute): void {
    this.setAttribute(name, value);
  }

  removeAttribute(name: string): void {
    const { length } = this.attributes;
    if (length > 0) this.attributes = this.attributes.filter((attribute) => attribute.name !== name);
  }

  get className(): string {
    return this.getAttribute("class") ?? "";
  }

  set className(value: string) {
    this.setAttribute("class", value);
  }

  get id(): string {
    return this.getAttribute("id") ?? "";
  }

  set id(value: string) {
    this.setAttribute("id", value);
  }

  get style(): { readonly display: string; readonly visibility: string } {
    const style = this.getAttribute("style");
    if (style === null) return PLAIN_STYLE;
    const read = (name: RegExp) => name.exec(style)?.[1]?.toLowerCase() ?? "";
    return {
      display: read(/(?:^|;)\s*display\s*:\s*([\w-]+)/i),
      visibility: read(/(?:^|;)\s*visibility\s*:\s*([\w-]+)/i),
    };
  }

  get textContent(): string {
    if (this.firstChild === null) return "";
    if (this.firstChild === this.lastChild && this.firstChild.nodeType === TEXT)
      return this.firstChild.textContent;
    const parts: string[] = [];
    walk(this, (node) => {
      if (node.nodeType === TEXT) parts.push(node.textContent);
    });
    return parts.join("");
  }

  set textContent(text: string) {
    this.#empty();
    this.appendChild(new Text(text));
  }

  get innerHTML(): Snapshot | string {
    return this.localName === "body" ? new Snapshot(this) : "";
  }

  set innerHTML(html: Snapshot | string) {
    this.#empty();
    if (html instanceof Snapshot) for (const node of html.nodes) this.appendChild(node.cloneNode());
  }

  appendChild<Child extends Node>(node: Child): Child {
    return this.#place(node, null);
  }

  /** For a node that is nowhere yet, in an element whose children nobody has asked for. */
  attach(node: Node): void {
    const last = this.lastChild;
    node.parentNode = this;
    node.previousSibling = last;
    if (last === null) this.firstChild = node;
    else last.nextSibling = node;
    this.lastChild = node;
  }

  replaceChild(node: Node, old: Node): Node {
    if (node === old) return old;
    this.#place(node, old);
    return this.removeChild(old);
  }

  removeChild(node: Node): Node {
    if (node.previousSibling === null) this.firstChild = node.nextSibling;
    else node.previousSibling.nextSibling = node.nextSibling;
    if (node.nextSibling === null) this.lastChild = node.previousSibling;
    else node.nextSibling.previousSibling = node.previousSibling;
    node.parentNode = undefined;
    node.nextSibling = null;
    node.previousSibling = null;
    this.#changed();
    return node;
  }

  getElementsByTagName(name: string): Element[] {
    const wanted = name.toLowerCase();
    if (wanted === "*") return descendants(this, () => true);
    if (!this.ownerDocument.names.has(wanted)) return [];
    return descendants(this, (element) => element.localName === wanted);
  }

  /** Only lists of tag names, which is all that Readability asks for. */
  querySelectorAll(names: string): Element[] {
    const wanted = new Set(names.toLowerCase().split(",")).intersection(this.ownerDocument.names);
    if (wanted.size === 0) return [];
    return descendants(this, (element) => wanted.has(element.localName));
  }

  cloneNode(): Element {
    const copy = new Element(this.localName, this.ownerDocument);
    copy.attributes = this.attributes.map((attribute) => attribute.cloneNode());
    for (let node = this.firstChild; node !== null; node = node.nextSibling)
      copy.appendChild(node.cloneNode());
    return copy;
  }

  #place<Child extends Node>(node: Child, after: Node | null): Child {
    node.parentNode?.removeChild(node);
    const before = after === null ? this.lastChild : after.previousSibling;
    node.parentNode = this;
    node.previousSibling = before;
    node.nextSibling = after;
    if (before === null) this.firstChild = node;
    else before.nextSibling = node;
    if (after === null) this.lastChild = node;
    else after.previousSibling = node;
    this.#changed();
    return node;
  }

  #empty(): void {
    for (let node = this.firstChild; node !== null; node = this.firstChild) this.removeChild(node);
  }

  #changed(): void {
    this.nodeList = undefined;
    this.elementList = undefined;
  }
}

const upperCased = new Map<string, string>();

function upperCase(name: string): string {
  let known = upperCased.get(name);
  if (known === undefined) {
    known = name.toUpperCase();
    if (upperCased.size < 1000) upperCased.set(name, known);
  }
  return known;
}

const PLAIN_STYLE = { display: "", visibility: "" };

export class Document {
  readonly nodeType = 9;
  readonly documentElement: Element;
  readonly head: Element;
  readonly body: Element;
  // Without an address of its own, Readability leaves links as they are.
  readonly documentURI = "";
  readonly baseURI = "";
  /** The base of relative addresses, if the page sets one. */
  base: string | undefined;
  /** The document had more than is kept of it. */
  isCut = false;
  /** The text in `noscript`: a page that needs scripts says so there. */
  withoutScripts = "";
  scripts = 0;
  nodes = 0;
  /** Names of the elements there are or were: Readability looks for many that most pages do not have. */
  readonly names = new Set<string>();

  constructor() {
    this.documentElement = this.createElement("html");
    this.head = this.documentElement.appendChild(this.createElement("head"));
    this.body = this.documentElement.appendChild(this.createElement("body"));
  }

  get firstChild(): Element {
    return this.documentElement;
  }

  get children(): Element[] {
    return [this.documentElement];
  }

  get childNodes(): Element[] {
    return [this.documentElement];
  }

  get title(): string {
    return this.head.getElementsByTagName("title")[0]?.textContent.trim() ?? "";
  }

  createElement(name: string): Element {
    return new Element(name.toLowerCase(), this);
  }

  createTextNode(text: string): Text {
    return new Text(text);
  }

  getElementsByTagName(name: string): Element[] {
    return this.documentElement.getElementsByTagName(name);
  }

  querySelectorAll(names: string): Element[] {
    return this.documentElement.querySelectorAll(names);
  }
}

function nextElement(from: Node | null): Element | null {
  let node = from;
  while (node !== null && !isElement(node)) node = node.nextSibling;
  return node;
}

export const isElement = (node: Node): node is Element => node.nodeType === ELEMENT;

/** Calls for every node below `root` in the order of the document. It is the busiest loop of all: no recursion, no calls but the one. */
function walk(root: Element, visit: (node: Node) => void): void {
  let node: Node | null = root.firstChild;
  while (node !== null) {
    visit(node);
    let following: Node | null | undefined = (node as Partial<Element>).firstChild ?? node.nextSibling;
    while (following == null) {
      node = node.parentNode as Element;
      if (node === root) return;
      following = node.nextSibling;
    }
    node = following;
  }
}

function descendants(root: Element, isWanted: (element: Element) => boolean): Element[] {
  const found: Element[] = [];
  walk(root, (node) => {
    if (node.nodeType === ELEMENT && isWanted(node as Element)) found.push(node as Element);
  });
  return found;
}
