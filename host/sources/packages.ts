/** Folders and archives from every place that tools come from, as the files in them: for what is no component, such as a skill. */
import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { visibleLine } from "../../kernel/kit/text.ts";
import { Fault } from "../../kernel/plugin.ts";
import { refusal } from "./archive-path.ts";
import type { Downloads } from "./download.ts";
import { readFolder } from "./folder-files.ts";
import { fetchSigned } from "./https.ts";
import { createReleases } from "./npm/npm.ts";
import { type PackageFiles, readTarball } from "./npm/tarball.ts";
import type { OpenRegistry } from "./oci/access.ts";
import { sha256 } from "./oci/manifest.ts";
import { fetchArchive } from "./oci/oci.ts";
import { canonicalReference, type Reference } from "./reference.ts";
import type { Fetched, FetchOptions } from "./source.ts";
import { isZip, readZip } from "./zip.ts";

const MAX_UPLOAD_NAME = 200;

export interface PackageOptions extends Pick<FetchOptions, "progress" | "signal"> {
  readonly bounds: { readonly maxBytes: number; readonly maxFiles: number };
}

export interface FetchedPackage extends Pick<Fetched, "origin" | "evidence"> {
  readonly files: PackageFiles;
  /** What its folder is called, where it is one. */
  readonly folder?: string;
}

export function createPackages({
  downloads,
  openRegistry,
  npmRegistry,
}: {
  readonly downloads: Downloads;
  readonly openRegistry: OpenRegistry;
  readonly npmRegistry: string;
}) {
  const releases = createReleases(downloads, npmRegistry);
  return async (reference: Reference, options: PackageOptions): Promise<FetchedPackage> => {
    const { maxBytes, maxFiles } = options.bounds;
    // Folders are entries, too.
    const bounds = { maxBytes, maxEntries: 2 * maxFiles };
    const what = canonicalReference(reference);
    switch (reference.kind) {
      case "folder": {
        const files = counted(await readFolder(reference.path, bounds), what, maxFiles);
        // It has no digest as a whole: who keeps it makes one of the files.
        const origin = { kind: reference.kind, reference: what, digest: "" };
        return { files, folder: basename(reference.path), origin, evidence: undefined };
      }
      case "file": {
        const data = await readArchive(reference.path, maxBytes);
        const origin = { kind: reference.kind, reference: what, digest: sha256(data) };
        return {
          files: counted(await unpack(data, what, bounds), what, maxFiles),
          origin,
          evidence: undefined,
        };
      }
      case "https": {
        const { data, evidence } = await fetchSigned(downloads, new URL(reference.url), maxBytes, options);
        const origin = { kind: reference.kind, reference: what, digest: sha256(data) };
        return { files: counted(await unpack(data, what, bounds), what, maxFiles), origin, evidence };
      }
      case "oci": {
        const { data, ...fetched } = await fetchArchive(openRegistry, reference, maxBytes, options);
        return { ...fetched, files: counted(await unpack(data, what, bounds), what, maxFiles) };
      }
      case "npm": {
        const { files, origin, evidence } = await releases(reference, options, bounds);
        return { files: counted(files, what, maxFiles), origin, evidence };
      }
      case "named":
        throw new Fault(
          "invalid",
          "tool_reference",
          `"${what}" is not a folder, an archive or an address: name a folder, a .zip file, https://…, npm:… or oci://….`,
          { param: "what", usage: true },
        );
    }
  };
}

/** What was uploaded has no address: its name stands for it. */
export async function unpackUpload(
  { name, bytes }: { readonly name: string; readonly bytes: Uint8Array },
  { maxBytes, maxFiles }: PackageOptions["bounds"],
): Promise<Pick<FetchedPackage, "files" | "origin">> {
  const what = visibleLine(name).slice(0, MAX_UPLOAD_NAME) || "the archive";
  const files = counted(await unpack(bytes, what, { maxBytes, maxEntries: 2 * maxFiles }), what, maxFiles);
  return { files, origin: { kind: "file", reference: what, digest: sha256(bytes) } };
}

async function readArchive(path: string, maxBytes: number): Promise<Uint8Array> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw refusal(path, "there is no such file", error);
  });
  if (size > maxBytes) throw refusal(path, `it has ${size} bytes; at most ${maxBytes} are read`);
  return readFile(path);
}

function unpack(
  data: Uint8Array,
  what: string,
  bounds: { readonly maxBytes: number; readonly maxEntries: number },
): Promise<PackageFiles> {
  return isZip(data) ? readZip(data, what, bounds) : readTarball(data, what, { ...bounds, isWrapped: false });
}

/** Without what programs for archives add. */
function counted(files: PackageFiles, what: string, most: number): PackageFiles {
  const isHidden = (path: string) =>
    path.split("/").some((part) => part.startsWith(".") || part === "__MACOSX");
  const shown = new Map([...files].filter(([path]) => !isHidden(path)));
  if (shown.size > most) throw refusal(what, `it has ${shown.size} files; at most ${most} are read`);
  return shown;
}
