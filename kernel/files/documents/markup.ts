/** XML and HTML as a stream of tags. Entities that a document declares are not looked up, and nothing is fetched. */
import { Parser } from "htmlparser2";
import type { Archive } from "./archive.ts";
import { Unreadable } from "./passages.ts";

type Opened = [name: string, attribute: (name: string) => string | undefined];

/** Names come without their prefix: programs choose different ones. */
export interface Tags {
  open?(...[name, attribute, depth]: [...Opened, depth: number]): void;
  text?(text: string): void;
  close?(name: string, depth: number): void;
}

/** Documents of people have a few dozen. */
const MAX_DEPTH = 1000;

const bare = (name: string) => name.slice(name.indexOf(":") + 1);

export function createParser({ open, text, close }: Tags, isHtml = false): Parser {
  let depth = 0;
  return new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > MAX_DEPTH) throw new Unreadable("nested");
        const attribute = (wanted: string) => {
          if (Object.hasOwn(attributes, wanted)) return attributes[wanted];
          const found = Object.keys(attributes).find((each) => bare(each) === wanted);
          return found === undefined ? undefined : attributes[found];
        };
        open?.(bare(name), attribute, depth);
      },
      ontext: (piece) => text?.(piece),
      onclosetag(name) {
        close?.(bare(name), depth);
        depth--;
      },
    },
    { xmlMode: !isHtml, recognizeSelfClosing: true },
  );
}

/** The same without the elements that are left out, and what is in them. */
export function without(isLeftOut: (...[name, attribute]: Opened) => boolean, tags: Tags): Tags {
  /** How deep the outermost of them is. */
  let outer = 0;
  return {
    open(name, attribute, depth) {
      if (outer === 0 && isLeftOut(name, attribute)) outer = depth;
      if (outer === 0) tags.open?.(name, attribute, depth);
    },
    text(text) {
      if (outer === 0) tags.text?.(text);
    },
    close(name, depth) {
      if (outer === 0) tags.close?.(name, depth);
      else if (depth === outer) outer = 0;
    },
  };
}

export async function readPart(archive: Archive, name: string, tags: Tags, isHtml = false): Promise<void> {
  const parser = createParser(tags, isHtml);
  await archive.read(name, (piece) => parser.write(piece));
  parser.end();
}

export interface Relation {
  readonly type: string;
  readonly target: string;
}

/** What a part of an Office document refers to within it, by the ids it uses. */
export async function relationsOf(archive: Archive, part: string): Promise<ReadonlyMap<string, Relation>> {
  const found = new Map<string, Relation>();
  const slash = part.lastIndexOf("/") + 1;
  const file = `${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`;
  await readPart(archive, file, {
    open(name, attribute) {
      const [id, type, target] = [attribute("Id"), attribute("Type"), attribute("Target")];
      if (name !== "Relationship" || attribute("TargetMode") === "External") return;
      if (id === undefined || type === undefined || target === undefined) return;
      found.set(id, { type: type.slice(type.lastIndexOf("/") + 1), target: pathFrom(part, target) });
    },
  });
  return found;
}

export const targetOf = (relations: ReadonlyMap<string, Relation>, type: string): string | undefined =>
  relations.values().find((one) => one.type === type)?.target;

/** A path in an archive, as a part of it writes it. */
export function pathFrom(part: string, target: string): string {
  const path = target.startsWith("/") ? target.slice(1) : part.slice(0, part.lastIndexOf("/") + 1) + target;
  const names: string[] = [];
  for (const name of path.split("/"))
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  return names.join("/");
}
