/** An npm registry on a loopback port, with the packages that the test gives it. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { temporaryFolder } from "../home.ts";
import { listen } from "./listening.ts";

export interface Registry {
  readonly url: string;
  /** Publishes a package, and answers the integrity of its tarball. Replaces the one of that name. */
  publish(manifest: Manifest, files: Readonly<Record<string, string>>): string;
}

interface Manifest extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly version: string;
}

export async function startRegistry(): Promise<Registry> {
  const published = new Map<string, { readonly manifest: Manifest; readonly tarball: Buffer }>();
  const server = createServer((request, response) => {
    const [, name = "", file] = (request.url ?? "").split("/");
    const found = published.get(name);
    if (found === undefined) return void response.writeHead(404).end("{}");
    if (file !== undefined) return void response.end(found.tarball);
    const { version } = found.manifest;
    const dist = { tarball: `${url}/${name}/${name}.tgz`, integrity: integrityOf(found.tarball) };
    const versions = { [version]: { ...found.manifest, dist } };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
  });
  const { url } = await listen(server);
  return {
    url,
    publish(manifest, files) {
      const folder = temporaryFolder();
      mkdirSync(join(folder, "package"));
      writeFileSync(join(folder, "package", "package.json"), JSON.stringify(manifest));
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "package", name), text);
      execFileSync("tar", ["-czf", "package.tgz", "package"], { cwd: folder });
      const tarball = readFileSync(join(folder, "package.tgz"));
      published.set(manifest.name, { manifest, tarball });
      return integrityOf(tarball);
    },
  };
}

function integrityOf(tarball: Buffer): string {
  return `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
}
