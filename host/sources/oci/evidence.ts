/** Signatures of a manifest as cosign keeps them: version 2 under a tag, version 3 as bundles. They are only collected here. */
import {
  type Evidence,
  MAX_SIGNATURE_BYTES,
  MAX_SIGNATURES,
  type SimpleSignature,
} from "../../trust/evidence.ts";
import { SIMPLE_TYPE } from "../../trust/signer.ts";
import { canonicalReference, type OciReference } from "../reference.ts";
import { type Descriptor, MAX_MANIFEST_BYTES, MEDIA, readDescriptor, readJson, sha256 } from "./manifest.ts";
import { type Registry, refused, unexpected } from "./registry.ts";

const BUNDLE = /^application\/vnd\.dev\.sigstore\.bundle(?:\.v0\.\d+)?\+json/;
/** How registries answer that have never heard of referrers. */
const UNKNOWN_PATH = [400, 404, 405, 501];

export async function findEvidence(
  registry: Registry,
  reference: OciReference,
  manifest: Uint8Array,
  signal?: AbortSignal,
): Promise<Evidence> {
  const { repository } = reference;
  const digest = sha256(manifest);
  const tag = digest.replace(":", "-");
  const where = `the signatures of ${canonicalReference(reference)}`;

  const layersOf = async (path: string, list: "layers" | "manifests"): Promise<Descriptor[] | undefined> => {
    const answer = await registry.send(`${repository}/${path}`, {
      headers: { accept: list === "layers" ? MEDIA.manifest : MEDIA.index },
      maxBytes: MAX_MANIFEST_BYTES,
      signal,
    });
    const none = path.startsWith("referrers/") ? UNKNOWN_PATH : [404];
    if (none.includes(answer.status)) return undefined;
    if (answer.status !== 200) throw unexpected(reference.registry, where, answer);
    const found = readJson(answer.body)?.[list];
    return Array.isArray(found)
      ? found.slice(0, MAX_SIGNATURES).flatMap((entry) => readDescriptor(entry) ?? [])
      : [];
  };
  const blob = async ({ digest: expected, size }: Descriptor): Promise<Uint8Array | undefined> => {
    if (size > MAX_SIGNATURE_BYTES) return undefined;
    const answer = await registry.send(`${repository}/blobs/${expected}`, { maxBytes: size, signal });
    if (answer.status !== 200) throw unexpected(reference.registry, where, answer);
    if (sha256(answer.body) !== expected)
      throw refused(reference.registry, `answered with other bytes than the digest of ${where} names`);
    return answer.body;
  };

  const simple: SimpleSignature[] = [];
  for (const layer of (await layersOf(`manifests/${tag}.sig`, "layers")) ?? []) {
    const payload = layer.mediaType === SIMPLE_TYPE ? await blob(layer) : undefined;
    if (payload !== undefined) simple.push({ payload, annotations: layer.annotations ?? {} });
  }
  const bundles: Uint8Array[] = [];
  // A registry without the referrers API keeps the list under a tag.
  const referrers =
    (await layersOf(`referrers/${digest}`, "manifests")) ??
    (await layersOf(`manifests/${tag}`, "manifests")) ??
    [];
  for (const referrer of referrers) {
    for (const layer of (await layersOf(`manifests/${referrer.digest}`, "layers")) ?? []) {
      if (bundles.length === MAX_SIGNATURES) break;
      const bundle = BUNDLE.test(layer.mediaType) ? await blob(layer) : undefined;
      if (bundle !== undefined) bundles.push(bundle);
    }
  }
  return { subject: manifest, bundles, simple };
}
