/** What came from another program's home: it counts as a stranger's for as long as it is as it came. */
import { hash } from "node:crypto";
import { tryRecord } from "../../kernel/kit.ts";
import { IMPORTED_FILE, MAX_BYTES, type OperatorFiles } from "./files.ts";

export function createImports(files: Pick<OperatorFiles, "read">) {
  let known: { readonly text: string; readonly digests: ReadonlyMap<string, unknown> } = {
    text: "",
    digests: new Map(),
  };
  async function digests(): Promise<ReadonlyMap<string, unknown>> {
    const text = (await files.read(IMPORTED_FILE, MAX_BYTES)) ?? "";
    if (text !== known.text) known = { text, digests: new Map(Object.entries(tryRecord(text))) };
    return known.digests;
  }
  return {
    digests,
    isImported: async (path: string, text: string) => isAsImported(await digests(), path, text),
    /** The file of digests with these added. */
    async marking(paths: ReadonlyMap<string, string>): Promise<string> {
      const all = new Map(await digests());
      for (const [path, text] of paths) all.set(path, digestOf(text));
      return `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`;
    },
  };
}

export function isAsImported(digests: ReadonlyMap<string, unknown>, path: string, text: string): boolean {
  const digest = digests.get(path);
  return digest !== undefined && digest === digestOf(text);
}

const digestOf = (text: string): string => `sha256:${hash("sha256", text)}`;
