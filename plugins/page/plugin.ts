/** The web page: an app for browsers over the HTTP API, mounted at "/". */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { moduleFile } from "../../kernel/kit/files.ts";
import { definePlugin } from "../../kernel/plugin.ts";

const SITE = {
  // The page has no inline script or style and loads nothing from elsewhere.
  policy: {
    "script-src": ["'self'"],
    "style-src": ["'self'"],
    "img-src": ["'self'", "data:"],
    "font-src": ["'self'"],
    "connect-src": ["'self'"],
    "manifest-src": ["'self'"],
    "form-action": ["'self'"],
    "frame-src": ["'self'"],
  },
  files: readFiles,
};

export default definePlugin({
  name: "page",
  needs: ["web"],
  configure: () => ({}),
  async start({ use, onStop }) {
    onStop(use.web.mountSite(SITE));
  },
});

/** A clone builds the page from its sources, so that it is never stale; the published package has what was built. */
const BUILDER = moduleFile("plugins/page/build");
const BUILT = join(dirname(BUILDER), "dist");

async function readFiles() {
  const files = existsSync(BUILDER) ? await build() : await readBuilt();
  return new Map(
    [...files].map(([name, contents]) => [
      name,
      { contents, ...(name === "diagram.html" && { headers: headersOfDiagram(contents) }) },
    ]),
  );
}

type Bundle = ReadonlyMap<string, Uint8Array>;

async function build(): Promise<Bundle> {
  const { bundlePage } = (await import(pathToFileURL(BUILDER).href)) as { bundlePage(): Promise<Bundle> };
  return bundlePage();
}

async function readBuilt(): Promise<Bundle> {
  const names = await readdir(BUILT);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(BUILT, name))] as const)),
  );
}

const SCRIPT = "<script>";

/** A stranger's text in a large library, which writes styles: it gets no origin, and can load and send nothing. */
function headersOfDiagram(contents: Uint8Array): Readonly<Record<string, string>> {
  const document = Buffer.from(contents);
  const script = document.subarray(
    document.indexOf(SCRIPT) + SCRIPT.length,
    document.lastIndexOf("</script>"),
  );
  const hash = createHash("sha256").update(script).digest("base64");
  const policy = [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "sandbox allow-scripts",
  ];
  return { "Content-Security-Policy": policy.join(";"), "X-Frame-Options": "SAMEORIGIN" };
}
