/** A site's files, read and compressed when they are first asked for, and served from memory: they are few and never change. */
import { createHash } from "node:crypto";
import { extname } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Middleware } from "koa";
import type { Policy } from "../../../kernel/kit/http.ts";
import type { MountedSite, SiteFile } from "../services.ts";

/** Names that files of a site may have: other requests must not wait until its files are read. */
const NAME = /^\/(?:[\w-]+\.\w+)?$/;

/** The highest quality of Brotli takes seconds for larger files, and saves little. */
const LARGE_BYTES = 2 ** 20;

type Packing = "br" | "gzip";

interface ServedFile {
  readonly type: string;
  readonly tag: string;
  readonly plain: Buffer;
  readonly headers: Readonly<Record<string, string>>;
  packed(how: Packing): Promise<Buffer>;
}

type Files = ReadonlyMap<string, () => ServedFile>;

/** Shared by all services of a process. */
const FILES = new WeakMap<MountedSite, Promise<Files>>();

export function createSite() {
  let mounted: MountedSite | undefined;
  const serve: Middleware = async (context, next) => {
    const isFetched = context.method === "GET" || context.method === "HEAD";
    const files = isFetched && mounted && NAME.test(context.path) ? await filesOf(mounted) : undefined;
    const file = files?.get(context.path === "/" ? "index.html" : context.path.slice(1))?.();
    if (file === undefined) return next();
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
  return {
    serve,
    policy: (): Policy | undefined => mounted?.policy,
    mount(site: MountedSite): () => void {
      if (mounted !== undefined) throw new Error("Another plugin has mounted a site");
      mounted = site;
      return () => {
        mounted = undefined;
      };
    },
  };
}

function filesOf(site: MountedSite): Promise<Files> {
  let files = FILES.get(site);
  if (files === undefined) {
    files = site
      .files()
      .then((read) => new Map([...read].map(([name, file]) => [name, once(() => toServed(name, file))])));
    FILES.set(site, files);
    // What could not be read is tried again with the next request.
    files.catch(() => FILES.delete(site));
  }
  return files;
}

function toServed(name: string, { contents, headers = {} }: SiteFile): ServedFile {
  const tag = `"${createHash("sha256").update(contents).digest("base64url").slice(0, 22)}"`;
  const params = { [constants.BROTLI_PARAM_QUALITY]: contents.length > LARGE_BYTES ? 5 : 9 };
  const br = once(() => toBrotli(contents, { params }));
  const gzipped = once(() => toGzip(contents));
  return {
    type: extname(name),
    tag,
    plain: Buffer.from(contents),
    headers,
    packed: (how) => (how === "br" ? br() : gzipped()),
  };
}

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
