/** A tool pushed to a registry, in the layout that installs read. A version is published once: its content never changes. */
import { Fault } from "../../../kernel/plugin.ts";
import { canonicalReference, type OciReference } from "../reference.ts";
import type { Fetched } from "../source.ts";
import { type Descriptor, MEDIA, readManifest, sha256, TITLE, VERSION } from "./manifest.ts";
import { fetchManifest } from "./oci.ts";
import { type Registry, refused, unexpected } from "./registry.ts";

export interface Publication {
  readonly digest: string;
  /** The version's own reference, which is the line others type. */
  readonly reference: OciReference;
  /** Tags that point to it now. */
  readonly tags: readonly string[];
  /** False where the same was there already. */
  readonly isNew: boolean;
}

export interface PublishOptions {
  readonly registry: Registry;
  readonly reference: OciReference;
  readonly version: string;
  readonly tool: Pick<Fetched, "component" | "capabilitiesText" | "recordings" | "readme">;
  readonly progress: (line: string) => void;
}

const MAX_ANSWER_BYTES = 64 * 1024;

interface Blob extends Descriptor {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Under the version's tag, which never moves, and under the tag that was named, which does. */
export async function publish(options: PublishOptions): Promise<Publication> {
  const { registry, reference, version, tool, progress } = options;
  if (reference.digest !== undefined)
    throw new Fault("invalid", "publish_digest", "Publish to a tag, not to a digest.", { usage: true });
  const own: OciReference = { ...reference, tag: tagOf(version) };
  const { config, layers } = blobsOf(tool);
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MEDIA.manifest,
      config: describe(config),
      layers: layers.map(describe),
      annotations: { [VERSION]: version },
    }),
  );
  const digest = sha256(manifest);
  // What this refuses would be refused when it is installed.
  readManifest(manifest, canonicalReference(own));
  const known = await fetchManifest(registry, own);
  if (known !== undefined && known.digest !== digest)
    throw new Fault(
      "invalid",
      "version_exists",
      `Version ${version} is already published at ${canonicalReference(own)} with other content (${known.digest}). Raise "version" in capabilities.json.`,
    );
  if (known === undefined) {
    for (const blob of [config, ...layers]) await pushBlob(registry, own, blob, progress);
    await pushManifest(registry, own, manifest);
  }
  const moving = reference.tag ?? own.tag;
  if (moving !== undefined && moving !== own.tag)
    await pushManifest(registry, { ...reference, tag: moving }, manifest);
  const tags = [...new Set([own.tag, moving])].flatMap((tag) => tag ?? []);
  return { digest, reference: own, tags, isNew: known === undefined };
}

function blobsOf({ component, capabilitiesText, readme, recordings = [] }: PublishOptions["tool"]) {
  const layers = [
    blobOf(MEDIA.component, component),
    blobOf(MEDIA.capabilities, Buffer.from(capabilitiesText)),
    ...(readme === undefined ? [] : [blobOf(MEDIA.readme, Buffer.from(readme))]),
    ...recordings.map(({ name, text }) => blobOf(MEDIA.recording, Buffer.from(text), { [TITLE]: name })),
  ];
  // Without a date: the same tool is the same manifest, wherever and whenever it is made.
  const config = blobOf(
    MEDIA.config,
    Buffer.from(
      JSON.stringify({
        architecture: "wasm",
        os: "wasip2",
        layerDigests: layers.map(({ digest }) => digest),
      }),
    ),
  );
  return { config, layers };
}

function blobOf(mediaType: string, given: Uint8Array, annotations?: Readonly<Record<string, string>>): Blob {
  const bytes = new Uint8Array(given);
  return { mediaType, digest: sha256(bytes), size: bytes.length, ...(annotations && { annotations }), bytes };
}

function describe({ bytes: _, ...descriptor }: Blob): Descriptor {
  return descriptor;
}

async function pushBlob(
  registry: Registry,
  { registry: host, repository }: OciReference,
  { digest, size, mediaType, bytes }: Blob,
  progress: (line: string) => void,
): Promise<void> {
  const what = `the layer ${mediaType}`;
  const found = await registry.send(`${repository}/blobs/${digest}`, { method: "HEAD", maxBytes: 0 });
  if (found.status === 200) return;
  progress(`pushing ${mediaType} (${(size / 1e6).toFixed(1)} MB)`);
  const begun = await registry.send(`${repository}/blobs/uploads/`, {
    method: "POST",
    body: "",
    maxBytes: MAX_ANSWER_BYTES,
  });
  if (begun.status !== 202) throw unexpected(host, what, begun);
  const place = registry.locate(begun.headers.get("location") ?? "");
  if (place === undefined) throw refused(host, `does not say where ${what} goes`);
  place.searchParams.set("digest", digest);
  const pushed = await registry.send(place, {
    method: "PUT",
    headers: { "content-type": "application/octet-stream" },
    body: bytes,
    maxBytes: MAX_ANSWER_BYTES,
  });
  if (pushed.status !== 201) throw unexpected(host, what, pushed);
}

async function pushManifest(
  registry: Registry,
  reference: OciReference,
  manifest: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const pushed = await registry.send(
    `${reference.repository}/manifests/${reference.tag ?? reference.digest}`,
    {
      method: "PUT",
      headers: { "content-type": MEDIA.manifest },
      body: manifest,
      maxBytes: MAX_ANSWER_BYTES,
    },
  );
  if (pushed.status !== 201) throw unexpected(reference.registry, canonicalReference(reference), pushed);
}

/** Semantic versions may have a plus, which tags may not. */
function tagOf(version: string): string {
  const tag = version.replaceAll("+", "_");
  if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(tag))
    throw new Fault(
      "invalid",
      "publish_version",
      `The version ${JSON.stringify(version)} in capabilities.json cannot be a tag: use letters, digits and . _ -`,
    );
  return tag;
}
