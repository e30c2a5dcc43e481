/** The page's files, read, and compressed when they are first asked for, and served from memory: they are few and never change. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, extname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Middleware } from "koa";
import { moduleFile } from "../../../kernel/kit/files.ts";
import type { Policy } from "../../../kernel/kit/http.ts";

/** The page has no inline script or style and loads nothing from elsewhere. */
export const PAGE_POLICY: Policy = {
  "script-src": ["'self'"],
  "style-src": ["'self'"],
  "img-src": ["'self'", "data:"],
  "font-src": ["'self'"],
  "connect-src": ["'self'"],
  "manifest-src": ["'self'"],
  "form-action": ["'self'"],
  "frame-src": ["'self'"],
};

const SCRIPT = "<script>";

/**
 * What draws diagrams of models is a stranger's text in a large library: it gets no origin, even where it is opened by itself, and can
 * load and send nothing. The library writes styles into what it draws.
 */
function policyOfDiagram(document: Buffer): string {
  const script = document.subarray(
    document.indexOf(SCRIPT) + SCRIPT.length,
    document.lastIndexOf("</script>"),
  );
  const hash = createHash("sha256").update(script).digest("base64");
  return [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "sandbox allow-scripts",
  ].join(";");
}

type Bundle = ReadonlyMap<string, Uint8Array>;

/** A clone builds the page from its sources, so that it is never stale; the published package has what was built. */
const BUILDER = moduleFile("plugins/page/build");
const BUILT = join(dirname(BUILDER), "dist");

type Packing = "br" | "gzip";

interface PageFile {
  readonly type: string;
  readonly tag: string;
  readonly plain: Buffer;
  /** Headers of its own. */
  readonly headers: Readonly<Record<string, string>>;
  packed(how: Packing): Promise<Buffer>;
}

/** The names that files of the page may have: other requests must not wait until the page is bundled. */
const NAME = /^\/(?:[a-z]+(?:-[a-zA-Z\d]+)?\.(?:html|js|css|svg|png|webmanifest))?$/;

type Files = () => Promise<ReadonlyMap<string, () => PageFile>>;

let own: ReturnType<Files> | undefined;

/** Shared by all services of a process. What could not be read is tried again with the next request. */
const ownFiles: Files = () => {
  own ??= loadBundle().then(toFiles);
  own.catch(() => {
    own = undefined;
  });
  return own;
};

export function servePage(files: Files = ownFiles): Middleware {
  return async (context, next) => {
    const isFetched = context.method === "GET" || context.method === "HEAD";
    const file =
      isFetched && NAME.test(context.path)
        ? (await files()).get(context.path === "/" ? "index.html" : context.path.slice(1))?.()
        : undefined;
    if (file === undefined) return next();
    context.state["isPageFile"] = true;
    // Revalidated each time by its tag, so that an upgrade of the service reaches the browser at the next load.
    context.set({ "Cache-Control": "no-cache", ETag: file.tag, ...file.headers });
    context.vary("Accept-Encoding");
    context.status = 200;
    context.type = file.type;
    if (context.fresh) {
      context.status = 304;
      return;
    }
    const encoding = context.acceptsEncodings("br", "gzip", "identity");
    const isPacked = encoding === "br" || encoding === "gzip";
    if (isPacked) context.set("Content-Encoding", encoding);
    context.body = isPacked ? await file.packed(encoding) : file.plain;
  };
}

async function loadBundle(): Promise<Bundle> {
  if (existsSync(BUILDER)) {
    const { bundlePage } = (await import(pathToFileURL(BUILDER).href)) as { bundlePage(): Promise<Bundle> };
    return bundlePage();
  }
  const names = await readdir(BUILT);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(BUILT, name))] as const)),
  );
}

export function toFiles(bundle: Bundle): Awaited<ReturnType<Files>> {
  return new Map([...bundle].map(([name, contents]) => [name, once(() => toFile(name, contents))]));
}

function toFile(name: string, contents: Uint8Array): PageFile {
  const tag = `"${createHash("sha256").update(contents).digest("base64url").slice(0, 22)}"`;
  const isDiagram = name === "diagram.html";
  // The highest quality would take half a second more to save a few hundred bytes.
  const params = { [constants.BROTLI_PARAM_QUALITY]: isDiagram ? 5 : 9 };
  const br = once(() => toBrotli(contents, { params }));
  const gzipped = once(() => toGzip(contents));
  const plain = Buffer.from(contents);
  const headers: PageFile["headers"] = isDiagram
    ? { "Content-Security-Policy": policyOfDiagram(plain), "X-Frame-Options": "SAMEORIGIN" }
    : {};
  return { type: extname(name), tag, plain, headers, packed: (how) => (how === "br" ? br() : gzipped()) };
}

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
