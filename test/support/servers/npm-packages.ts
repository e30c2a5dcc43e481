/** An npm registry on a loopback port that says and sends what the test wants, true or not. */
import { createHash } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { type TarEntry, tarball } from "../tarball.ts";
import { listen } from "./listening.ts";

export interface NpmPackages {
  readonly url: string;
  /** As TOOLS_PRIVATE_HOSTS names it. */
  readonly host: string;
  /** The paths that were asked for. */
  readonly asked: readonly string[];
  /** Publishes a version, which becomes `latest`. */
  publish(name: string, version: string, entries: readonly TarEntry[] | Buffer): void;
  /** Answers a path in the test's own way. */
  answer(path: string, how: (response: ServerResponse) => void): void;
  document(
    name: string,
  ): { versions: Record<string, { dist: Record<string, unknown> }> } & Record<string, unknown>;
}

export async function startNpmPackages(): Promise<NpmPackages> {
  const documents = new Map<string, ReturnType<NpmPackages["document"]>>();
  const tarballs = new Map<string, Buffer>();
  const answers = new Map<string, (response: ServerResponse) => void>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    const own = answers.get(path);
    const found = documents.get(path.slice(1)) ?? tarballs.get(path);
    if (own !== undefined) own(response);
    else if (found === undefined) response.writeHead(404).end("{}");
    else response.end(Buffer.isBuffer(found) ? found : JSON.stringify(found));
  });
  const { url, host } = await listen(server);
  const document = (name: string) => {
    const found = documents.get(name) ?? { name, "dist-tags": {}, versions: {} };
    documents.set(name, found);
    return found;
  };
  return {
    url,
    host,
    asked,
    document,
    answer: (path, how) => void answers.set(path, how),
    publish(name, version, entries) {
      const bytes = Buffer.isBuffer(entries) ? entries : tarball(entries);
      const path = `/${name}/-/${version}.tgz`;
      tarballs.set(path, bytes);
      const integrity = `sha512-${createHash("sha512").update(bytes).digest("base64")}`;
      const found = document(name);
      // As mirrors pass it on.
      const dist = { tarball: `https://registry.npmjs.org${path}`, integrity };
      found.versions[version] = { name, version, dist } as { dist: Record<string, unknown> };
      found["dist-tags"] = { latest: version };
    },
  };
}
