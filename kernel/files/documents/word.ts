/** A document of Word: its text with headings, lists, tables and notes, without what was deleted or is hidden. */
import type { Archive } from "./archive.ts";
import { createFlow, type Flow } from "./flow.ts";
import { type Relation, readPart, type Tags, targetOf, without } from "./markup.ts";
import type { Passages } from "./passages.ts";

interface Style {
  readonly base: string | undefined;
  /** From 1. */
  level?: number | undefined;
  isList?: boolean;
}

type Styles = ReadonlyMap<string, Style>;

const NOTES = ["footnotes", "endnotes", "comments"] as const;
const MAX_BASES = 20;

export async function readWord(
  archive: Archive,
  part: string,
  relations: ReadonlyMap<string, Relation>,
  passages: Passages,
): Promise<void> {
  const styles = await stylesOf(archive, targetOf(relations, "styles"));
  const flow = createFlow(passages);
  await readPart(archive, part, wordTags(flow, styles));
  for (const kind of NOTES) {
    const notes = targetOf(relations, kind);
    if (notes === undefined) continue;
    flow.end({ heading: kind });
    await readPart(archive, notes, wordTags(flow, styles));
  }
  flow.end();
}

async function stylesOf(archive: Archive, part: string | undefined): Promise<Styles> {
  const styles = new Map<string, Style>();
  let id: string | undefined;
  let [base, level, isList]: [string?, number?, boolean?] = [];
  if (part !== undefined)
    await readPart(archive, part, {
      open(name, attribute) {
        const value = attribute("val");
        if (name === "style")
          [id, base, level, isList] = [attribute("styleId"), undefined, undefined, undefined];
        // Its name is English in every language of Word, unlike its id.
        else if (name === "name") level ??= levelOf(value);
        else if (name === "basedOn") base = value;
        else if (name === "outlineLvl") level ??= outlineOf(value);
        else if (name === "numPr") isList = true;
      },
      close(name) {
        if (name === "style" && id !== undefined) styles.set(id, { base, level, isList: isList === true });
      },
    });
  return styles;
}

function levelOf(name = ""): number | undefined {
  if (/^title$/i.test(name)) return 1;
  const level = /^heading ([1-9])$/i.exec(name)?.[1];
  return level === undefined ? undefined : Number(level);
}

/** Body text has 9. */
function outlineOf(value: string | undefined): number | undefined {
  return value !== undefined && /^[0-8]$/.test(value) ? Number(value) + 1 : undefined;
}

function findStyle<Found>(
  styles: Styles,
  id: string | undefined,
  get: (style: Style) => Found | undefined,
): Found | undefined {
  let style = styles.get(id ?? "");
  for (let step = 0; style !== undefined && step < MAX_BASES; step++) {
    const found = get(style);
    if (found !== undefined) return found;
    style = styles.get(style.base ?? "");
  }
  return undefined;
}

/** What says the same again for older programs, and what was before somebody changed it. */
const LEFT_OUT: ReadonlySet<string> = new Set(["Fallback", "moveFrom", "pPrChange", "rPrChange"]);
const OFF: ReadonlySet<string> = new Set(["0", "false", "off"]);

/** How a note begins, and how the text refers to it. */
const NOTES_OF = new Map<string, (attribute: (name: string) => string | undefined) => string>([
  ["footnote", (attribute) => `[Footnote ${attribute("id")}] `],
  ["endnote", (attribute) => `[Endnote ${attribute("id")}] `],
  ["comment", (attribute) => `[Comment by ${attribute("author") ?? "somebody"}] `],
]);
const REFERENCES = new Map([
  ["footnoteReference", "Footnote"],
  ["endnoteReference", "Endnote"],
]);

function wordTags(flow: Flow, styles: Styles): Tags {
  let [isText, isRun, isHidden] = [false, false, false];
  let opening = "";
  let style: string | undefined;
  let level: number | undefined;
  let list: boolean | undefined;
  return without((name) => LEFT_OUT.has(name), {
    open(name, attribute) {
      const value = attribute("val");
      // The lines that part notes from the text are among them, and have a type.
      const note = attribute("type") === undefined ? NOTES_OF.get(name) : undefined;
      if (note !== undefined) opening = note(attribute);
      else if (name === "p") {
        flow.paragraph();
        flow.write(opening);
        opening = "";
        [style, level, list] = [undefined, undefined, undefined];
      } else if (name === "pStyle") style = value;
      else if (name === "outlineLvl") level = outlineOf(value);
      // Number 0 takes the paragraph out of the list of its style.
      else if (name === "numId") list = value !== "0";
      else if (name === "r") [isRun, isHidden] = [true, false];
      else if (name === "vanish") isHidden = isRun && !OFF.has(value ?? "");
      else if (name === "t") isText = true;
      else if (name === "tr") flow.openRow();
      else if (isRun && !isHidden) {
        if (name === "tab") flow.write("\t");
        else if (name === "br" || name === "cr") flow.write("\n");
        else if (name === "noBreakHyphen") flow.write("-");
        else if (REFERENCES.has(name)) flow.write(` [${REFERENCES.get(name)} ${attribute("id")}]`);
      }
    },
    text(text) {
      if (isText && !isHidden) flow.write(text);
    },
    close(name) {
      if (name === "t") isText = false;
      else if (name === "r") [isRun, isHidden] = [false, false];
      else if (name === "tc") flow.endCell();
      else if (name === "tr") flow.endRow();
      else if (name === "p") {
        const heading = level ?? findStyle(styles, style, (one) => one.level);
        const isItem = list ?? findStyle(styles, style, (one) => one.isList || undefined);
        if (heading !== undefined) flow.heading(heading);
        else flow.paragraph(isItem ? "- " : "");
      }
    },
  });
}
