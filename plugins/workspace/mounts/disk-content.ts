/** What a file on the disk holds. A file that changes while it is read is refused. */
import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { LRUCache } from "lru-cache";
import { Fault } from "../../../kernel/plugin.ts";
import { MAX_FILE_BYTES } from "../account.ts";
import { mimeOfContent } from "../file-type.ts";

const MAX_DIGESTS = 10_000;
const MAX_ATTEMPTS = 3;
const PIECE_BYTES = 1 << 20;

export interface FileDigest {
  readonly digest: string;
  readonly mime: string;
  readonly stats: BigIntStats;
}

export type DigestOf = (file: FileHandle, path: string) => Promise<FileDigest>;

/** The digest of an open file, remembered until the file changes. */
export function createDigests(): DigestOf {
  // A size rather than `max`, which would allocate an array for every place at each start.
  const known = new LRUCache<string, Omit<FileDigest, "stats">>({
    maxSize: MAX_DIGESTS,
    sizeCalculation: () => 1,
  });
  return async (file: FileHandle, path: string): Promise<FileDigest> => {
    for (let attempt = 1; ; attempt++) {
      const stats = await file.stat({ bigint: true });
      const cached = known.get(keyOf(stats));
      if (cached) return { ...cached, stats };
      const hash = createHash("sha256");
      let mime: string | undefined;
      try {
        for await (const piece of piecesOf(file, path, stats)) {
          mime ??= mimeOfContent(piece);
          hash.update(piece);
        }
      } catch (error) {
        if (attempt < MAX_ATTEMPTS && error instanceof Fault && error.code === "workspace_busy") continue;
        throw error;
      }
      const found = { digest: hash.digest("hex"), mime: mime ?? mimeOfContent(new Uint8Array()) };
      known.set(keyOf(stats), found);
      return { ...found, stats };
    }
  };
}

/** Reads the bytes of an open file to its end. One that changes meanwhile is refused. */
export async function* piecesOf(
  file: FileHandle,
  path: string,
  before: BigIntStats,
): AsyncGenerator<Uint8Array> {
  if (before.size > BigInt(MAX_FILE_BYTES)) throw tooLargeHere(path);
  const size = Number(before.size);
  for (let at = 0; at < size; ) {
    const { bytesRead, buffer } = await file.read(
      Buffer.alloc(Math.min(PIECE_BYTES, size - at)),
      0,
      null,
      at,
    );
    if (bytesRead === 0) break;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
  if (keyOf(await file.stat({ bigint: true })) !== keyOf(before)) throw isGrowing(path);
}

export const keyOf = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;

export const timeOf = ({ mtimeMs }: BigIntStats): string => new Date(Number(mtimeMs)).toISOString();

export const isGrowing = (path: string): Fault =>
  new Fault(
    "unavailable",
    "workspace_busy",
    `${path} is being written to by another program: try again in a moment.`,
    {
      retryAfterSecs: 1,
    },
  );

const tooLargeHere = (path: string): Fault =>
  new Fault(
    "invalid",
    "file_too_large",
    `${path} is larger than ${MAX_FILE_BYTES / 1_000_000} MB, so it is neither read nor changed here.`,
  );
