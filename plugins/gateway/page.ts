/** The page's files, read and compressed once at start and served from memory: they are few and never change. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Middleware } from "koa";

/** Where the build puts the bundle: index.html and what it loads. */
const PAGE_FOLDER = fileURLToPath(new URL("./page/dist/", import.meta.url));

interface PageFile {
  readonly type: string;
  readonly tag: string;
  readonly plain: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

const TEXT = new Set([".html", ".js", ".css", ".svg", ".json", ".webmanifest", ".txt"]);

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Postern</title>
<h1>Postern runs</h1><p>The page has not been built here; the API answers all the same.</p></html>
`;

export function servePage(folder = PAGE_FOLDER): Middleware {
  const files = readFiles(folder);
  return async (context, next) => {
    const file = files.get(context.path === "/" ? "/index.html" : context.path);
    if (file === undefined || (context.method !== "GET" && context.method !== "HEAD")) return next();
    // Revalidated each time, by a tag: an upgrade of the service reaches the browser at the next load.
    context.set({ "Cache-Control": "no-cache", ETag: file.tag });
    context.vary("Accept-Encoding");
    context.status = 200;
    context.type = file.type;
    if (context.fresh) {
      context.status = 304;
      return;
    }
    const encoding = context.acceptsEncodings("br", "gzip", "identity");
    const packed = encoding === "br" || encoding === "gzip" ? file[encoding] : undefined;
    if (packed) context.set("Content-Encoding", encoding as string);
    context.body = packed ?? file.plain;
  };
}

function readFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const entry of listFiles(folder)) {
    const path = `/${relative(folder, entry).split(sep).join("/")}`;
    files.set(path, pageFile(path, readFileSync(entry)));
  }
  if (!files.has("/index.html")) files.set("/index.html", pageFile("/index.html", Buffer.from(NOT_BUILT)));
  return files;
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

function pageFile(path: string, plain: Buffer): PageFile {
  const tag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
  const type = extname(path);
  return TEXT.has(type)
    ? { type, tag, plain, br: brotliCompressSync(plain), gzip: gzipSync(plain) }
    : { type, tag, plain };
}
