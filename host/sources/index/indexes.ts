/** The indexes that the operator names in TOOLS_INDEX, read anew for each question: they are small, and change when their authors say so. */
import { readFile, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { ROOT, visibleLine } from "../../../kernel/kit.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";
import { type Downloads, getFile } from "../download.ts";
import { type IndexReading, MAX_INDEX_BYTES, parseIndex } from "./index-file.ts";

/** The word for the one that comes with Postern. */
export const SHIPPED_INDEX = "shipped";

const SHIPPED_FILE = join(ROOT, "components", "index.json");
const TIMEOUT_MILLIS = 15_000;

export interface Indexes {
  /** Entries in the operator's order; an index that cannot be read is a problem in words. */
  read(signal?: AbortSignal): Promise<IndexReading>;
}

/** `named`: URLs, or paths from `folder`. */
export function createIndexes(downloads: Downloads, named: readonly string[], folder: string): Indexes {
  return {
    async read(signal) {
      const readings = await Promise.all(
        named.map(async (name): Promise<IndexReading> => {
          try {
            return await (/^https?:\/\//i.test(name)
              ? readRemote(downloads, name, signal)
              : readLocal(name, folder));
          } catch (error) {
            if (signal?.aborted === true) throw error;
            return { entries: [], problems: [visibleLine(reason(error))] };
          }
        }),
      );
      return {
        entries: readings.flatMap(({ entries }) => entries),
        problems: readings.flatMap(({ problems }) => problems),
      };
    },
  };
}

async function readRemote(downloads: Downloads, url: string, signal?: AbortSignal): Promise<IndexReading> {
  const bytes = await getFile(downloads, url, `the index ${url}`, {
    maxBytes: MAX_INDEX_BYTES,
    timeoutMs: TIMEOUT_MILLIS,
    accept: "application/json",
    signal,
  });
  return parseIndex(Buffer.from(bytes).toString("utf8"), url, () => undefined);
}

async function readLocal(name: string, folder: string): Promise<IndexReading> {
  const file = name === SHIPPED_INDEX ? SHIPPED_FILE : resolve(folder, name);
  const wrong = (why: string, cause?: unknown) =>
    new Fault("invalid", "bad_index", `The index ${file} cannot be used: ${why}.`, { cause });
  const { size } = await stat(file).catch((error: unknown) => Promise.reject(wrong(reason(error), error)));
  if (size > MAX_INDEX_BYTES) throw wrong(`it has ${size} bytes; at most ${MAX_INDEX_BYTES} are read`);
  const text = await readFile(file, "utf8").catch((error: unknown) =>
    Promise.reject(wrong(reason(error), error)),
  );
  return parseIndex(text, name, (path) => resolve(dirname(file), path));
}
