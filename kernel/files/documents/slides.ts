/** A presentation of PowerPoint: each slide with its title, its text and the notes of the speaker. */
import type { Archive } from "./archive.ts";
import { createFlow, type Flow } from "./flow.ts";
import { type Relation, readPart, relationsOf, type Tags, targetOf, without } from "./markup.ts";
import type { Passages } from "./passages.ts";

export async function readSlides(
  archive: Archive,
  part: string,
  relations: ReadonlyMap<string, Relation>,
  passages: Passages,
): Promise<void> {
  const slides: string[] = [];
  await readPart(archive, part, {
    open(name, attribute) {
      // Its other id is a number.
      if (name === "sldId") slides.push(attribute("r:id") ?? "");
    },
  });
  const flow = createFlow(passages);
  for (const [at, id] of slides.entries()) {
    const file = relations.get(id)?.target;
    if (file === undefined) continue;
    flow.end({ page: at + 1 });
    await readPart(archive, file, slideTags(flow));
    const notes = targetOf(await relationsOf(archive, file), "notesSlide");
    if (notes !== undefined) await readPart(archive, notes, slideTags(flow, true));
  }
  flow.end();
}

const TITLES: ReadonlySet<string> = new Set(["title", "ctrTitle"]);

function slideTags(flow: Flow, isNotes = false): Tags {
  let isText = false;
  let placeholder: string | undefined;
  // A slide has its number, date and footer on every page, and a page of notes has a picture of the slide.
  const counts = () =>
    isNotes ? placeholder === "body" : !/^(?:dt|ftr|hdr|sldNum)$/.test(placeholder ?? "");
  // A fallback says the same again for older programs.
  return without((name) => name === "Fallback", {
    open(name, attribute) {
      if (name === "sp" || name === "graphicFrame") placeholder = undefined;
      else if (name === "ph") placeholder = attribute("type") ?? "obj";
      else if (name === "t") isText = true;
      else if (name === "br") flow.write("\n");
      else if (name === "tr") flow.openRow();
    },
    text(text) {
      if (isText && counts()) flow.write(text);
    },
    close(name) {
      if (name === "t") isText = false;
      else if (name === "tc") flow.endCell();
      else if (name === "tr") flow.endRow();
      else if (name === "p" && placeholder !== undefined && TITLES.has(placeholder)) flow.heading(2);
      else if (name === "p") flow.paragraph(isNotes ? "Notes: " : "");
    },
  });
}
