/** An EPUB: its chapters, in the order in which they are read. */
import type { Archive } from "./archive.ts";
import { createFlow } from "./flow.ts";
import { htmlTags } from "./html.ts";
import { pathFrom, readPart } from "./markup.ts";
import { type Passages, Unreadable } from "./passages.ts";

/** These hide fonts alone; what else is encrypted, a bookshop has locked. */
const OF_FONTS = /^http:\/\/(?:www\.idpf\.org\/2008\/embedding|ns\.adobe\.com\/pdf\/enc#RC)$/;

export async function readBook(archive: Archive, passages: Passages): Promise<void> {
  await readPart(archive, "META-INF/encryption.xml", {
    open(name, attribute) {
      if (name === "EncryptionMethod" && !OF_FONTS.test(attribute("Algorithm") ?? ""))
        throw new Unreadable("password");
    },
  });
  let file: string | undefined;
  await readPart(archive, "META-INF/container.xml", {
    open(name, attribute) {
      if (name === "rootfile") file ??= attribute("full-path");
    },
  });
  if (file === undefined || !archive.has(file)) throw new Unreadable("broken");
  const flow = createFlow(passages);
  for (const chapter of await chaptersOf(archive, file)) {
    await readPart(archive, chapter, htmlTags(flow), true);
    flow.end();
  }
}

async function chaptersOf(archive: Archive, file: string): Promise<readonly string[]> {
  const parts = new Map<string, string>();
  const order: string[] = [];
  await readPart(archive, file, {
    open(name, attribute) {
      const [id, href, idref] = [attribute("id"), attribute("href"), attribute("idref")];
      if (name === "item" && id !== undefined && href !== undefined) parts.set(id, href);
      if (name === "itemref" && idref !== undefined) order.push(idref);
    },
  });
  return order.flatMap((id) => {
    const href = parts.get(id);
    return href === undefined ? [] : [pathFrom(file, unescaped(href))];
  });
}

function unescaped(href: string): string {
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}
