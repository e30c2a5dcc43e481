/** Formulas as MathML, which browsers draw themselves. Loaded when the first one is shown. */
import DOMPurify from "dompurify";
import temml from "temml";
import type { Formula } from "./formulas.ts";

/** Elements and attributes of MathML that contain no other markup, link nowhere and run nothing. */
const ALLOWED = {
  ALLOWED_TAGS: [
    ..."math mrow mi mn mo ms mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover".split(
      " ",
    ),
    ..."mmultiscripts mprescripts mtable mtr mtd mpadded mphantom menclose mstyle merror".split(" "),
  ],
  ALLOWED_ATTR: [
    ..."display mathvariant stretchy fence form separator symmetric largeop movablelimits accent".split(" "),
    ..."accentunder lspace rspace minsize maxsize linethickness columnalign rowspacing columnspacing".split(
      " ",
    ),
    ..."displaystyle scriptlevel width height depth voffset notation columnspan rowspan dir".split(" "),
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // The values of these attributes are not addresses.
  ALLOWED_URI_REGEXP: /^[\w .%+-]*$/,
  NAMESPACE: "http://www.w3.org/1998/Math/MathML",
  RETURN_DOM_FRAGMENT: true as const,
};

// A formula that defines macros can expand without end.
const DEFINES = /\\(?:[gex]?def|let|futurelet|global|(?:re|provide)?(?:new)?command)/;
const OPTIONS = { throwOnError: true, trust: false, strict: false, annotate: false, maxExpand: 200 };
const MAX_KEPT = 500;

/** Kept because streaming text is rendered again with every piece. */
const kept = new Map<string, Element | undefined>();

/** Returns undefined for an invalid formula, which is then shown as written. */
export function renderFormula(formula: Formula): Element | undefined {
  const key = `${formula.isBlock} ${formula.tex}`;
  if (!kept.has(key)) {
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(key, draw(formula));
  }
  return kept.get(key)?.cloneNode(true) as Element | undefined;
}

function draw({ tex, isBlock }: Formula): Element | undefined {
  if (DEFINES.test(tex)) return undefined;
  const host = document.createElement("span");
  try {
    temml.render(tex, host, { ...OPTIONS, displayMode: isBlock });
  } catch {
    return undefined;
  }
  const drawn = host.firstElementChild;
  const clean = drawn && DOMPurify.sanitize(drawn, ALLOWED).firstElementChild;
  if (clean?.localName !== "math") return undefined;
  if (isBlock) clean.setAttribute("tabindex", "0");
  return clean;
}
