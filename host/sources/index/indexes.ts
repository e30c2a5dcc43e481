/** The indexes that the operator names in TOOLS_INDEX, read anew for each question: they are small, and change when their authors say so. */
import { dirname, join, resolve } from "node:path";
import { ROOT } from "../../../kernel/kit/files.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { Downloads } from "../download.ts";
import { type IndexEntry, parseIndex } from "./index-file.ts";
import { isUrl, type Listing, readListings } from "./listing.ts";

export const SHIPPED_INDEX = "shipped";

const SHIPPED_FILE = join(ROOT, "components", "index.json");

export type Indexes = ReturnType<typeof createIndexes>;

/** `named`: URLs, or paths from `folder`. */
export function createIndexes(downloads: Downloads, named: readonly string[], folder: string) {
  const fileOf = (name: string) => (name === SHIPPED_INDEX ? SHIPPED_FILE : resolve(folder, name));
  return {
    /** Entries in the operator's order; an index that cannot be read is a problem in words. */
    read: (signal?: AbortSignal): Promise<Listing<IndexEntry>> =>
      readListings({ downloads, named, fileOf, signal }, (text, name) =>
        parseIndex(text, name, (path) => (isUrl(name) ? undefined : resolve(dirname(fileOf(name)), path))),
      ),
  };
}

/** A fault where no index lists the name, or two mean different tools by it. */
export function findEntry(entries: readonly IndexEntry[], name: string): IndexEntry {
  const found = entries.filter((entry) => entry.name === name);
  const [first] = found;
  if (first === undefined) {
    const message = `No index lists a tool named ${name}. "postern tool search" shows what they list; a file or folder is given with its path, such as ./${name}.`;
    throw new Fault("missing", "not_in_an_index", message, { param: "name" });
  }
  const isSame = (other: IndexEntry) =>
    other.from === first.from && other.digest === first.digest && other.signer === first.signer;
  if (!found.every(isSame)) {
    const both = found.map(({ from, index }) => `${from} (listed in ${index})`).join(" and ");
    const message = `${name} is the name of different tools: ${both}. Install one by its full reference.`;
    throw new Fault("invalid", "ambiguous_name", message, { param: "name" });
  }
  return first;
}
