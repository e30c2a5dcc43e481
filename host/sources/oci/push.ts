/** Blobs and manifests pushed to a registry. */
import type { OutboundReply } from "../../../kernel/kit/outbound.ts";
import { canonicalReference, type OciReference } from "../reference.ts";
import { type Descriptor, MEDIA, sha256 } from "./manifest.ts";
import { type Registry, refused, unexpected } from "./registry.ts";

const MAX_ANSWER_BYTES = 64 * 1024;

export interface Blob extends Descriptor {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export function blobOf(
  mediaType: string,
  given: Uint8Array,
  annotations?: Readonly<Record<string, string>>,
): Blob {
  const bytes = new Uint8Array(given);
  return { mediaType, digest: sha256(bytes), size: bytes.length, ...(annotations && { annotations }), bytes };
}

export function describe({ bytes: _, ...descriptor }: Blob): Descriptor {
  return descriptor;
}

export async function pushBlob(
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
  const place = registry.locate(begun.headers.location ?? "");
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

export async function pushManifest(
  registry: Registry,
  reference: OciReference,
  manifest: Uint8Array<ArrayBuffer>,
  mediaType: string = MEDIA.manifest,
): Promise<OutboundReply> {
  const pushed = await registry.send(
    `${reference.repository}/manifests/${reference.tag ?? reference.digest}`,
    { method: "PUT", headers: { "content-type": mediaType }, body: manifest, maxBytes: MAX_ANSWER_BYTES },
  );
  if (pushed.status !== 201) throw unexpected(reference.registry, canonicalReference(reference), pushed);
  return pushed;
}
