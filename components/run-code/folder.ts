/** The part of the workspace that the operator granted; refusals become errors of the code. */
import { listFolder, read, remove, stat, write, writeAt } from "postern:tool/files@0.1.0";

export interface Entry {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly bytes: number;
  readonly modified: string;
}

/** So much is read and written at once. */
const PART_BYTES = 8 << 20;

export const folder = {
  read(path: string): Uint8Array {
    const entry = asked(() => stat(path));
    if (entry?.kind !== "file") throw new Error(`there is no file ${path}`);
    const data = new Uint8Array(entry.size);
    for (let at = 0; at < data.length; ) {
      const part = asked(() => read(path, at, Math.min(PART_BYTES, data.length - at)));
      if (part.length === 0) return data.slice(0, at);
      data.set(part, at);
      at += part.length;
    }
    return data;
  },
  write(path: string, data: Uint8Array): void {
    asked(() => write(path, data.subarray(0, PART_BYTES)));
    for (let at = PART_BYTES; at < data.length; at += PART_BYTES)
      asked(() => writeAt(path, at, data.subarray(at, at + PART_BYTES)));
  },
  list: (path: string): readonly Entry[] => asked(() => listFolder(path)).map(toEntry),
  find(path: string): Entry | undefined {
    const entry = asked(() => stat(path));
    return entry && toEntry(entry);
  },
  remove: (path: string): void => asked(() => remove(path)),
};

function toEntry({ path, kind, size, modified }: NonNullable<ReturnType<typeof stat>>): Entry {
  return { path, kind, bytes: size, modified };
}

function asked<Value>(ask: () => Value): Value {
  try {
    return ask();
  } catch (error) {
    throw new Error((error as { payload?: string }).payload ?? String(error));
  }
}
