/** Signatures pushed beside a manifest, where cosign looks for them: a bundle that refers to it, and the tag `sha256-….sig`. */
import { isSignedWith } from "../../trust/public-key.ts";
import { readSignatures } from "../../trust/signatures.ts";
import { BUNDLE_TYPE, jsonBytes, SIMPLE_TYPE, signBundle, signSimple } from "../../trust/signer.ts";
import type { SigningKey } from "../../trust/signing-key.ts";
import { COSIGN_SIGN } from "../../trust/statement.ts";
import type { OciReference } from "../reference.ts";
import { findEvidence } from "./evidence.ts";
import { MAX_MANIFEST_BYTES, MEDIA, readJson, sha256 } from "./manifest.ts";
import { blobOf, describe, pushBlob, pushManifest } from "./push.ts";
import { type Registry, refused, unexpected } from "./registry.ts";

export interface SignOptions {
  readonly registry: Registry;
  readonly reference: OciReference;
  readonly manifest: Uint8Array;
  readonly key: SigningKey;
  readonly progress: (line: string) => void;
}

/** They are too small to wait for. */
const quiet = () => {};
const EMPTY_CONFIG = "application/vnd.oci.empty.v1+json";
const IMAGE_CONFIG = "application/vnd.oci.image.config.v1+json";

/** False where a signature by this key was there already: publishing again adds nothing. */
export async function pushSignatures(options: SignOptions): Promise<boolean> {
  const { registry, reference, manifest, key, progress } = options;
  const evidence = await findEvidence(registry, reference, manifest);
  for (const signature of readSignatures(evidence).signatures)
    if (await isSignedWith(key.publicKey, signature)) return false;
  progress("signing");
  await pushBundle(options);
  await pushSimple(options);
  return true;
}

async function pushBundle({ registry, reference, manifest, key }: SignOptions): Promise<void> {
  const digest = sha256(manifest);
  const bundle = blobOf(BUNDLE_TYPE, await signBundle(key, hexOf(digest)));
  const config = blobOf(EMPTY_CONFIG, Buffer.from("{}"));
  const annotations = {
    "dev.sigstore.bundle.content": "dsse-envelope",
    "dev.sigstore.bundle.predicateType": COSIGN_SIGN,
    "org.opencontainers.image.created": new Date().toISOString(),
  };
  const referrer = blobOf(
    MEDIA.manifest,
    jsonBytes({
      schemaVersion: 2,
      mediaType: MEDIA.manifest,
      artifactType: BUNDLE_TYPE,
      config: describe(config),
      layers: [describe(bundle)],
      subject: { mediaType: MEDIA.manifest, digest, size: manifest.length },
      annotations,
    }),
  );
  for (const blob of [config, bundle]) await pushBlob(registry, reference, blob, quiet);
  const at = { kind: "oci", registry: reference.registry, repository: reference.repository } as const;
  const { headers } = await pushManifest(registry, { ...at, digest: referrer.digest }, referrer.bytes);
  // A registry that knows referrers says so; for another one the list is a tag, which everybody keeps.
  if (headers["oci-subject"] !== undefined) return;
  const tag = digest.replace(":", "-");
  const listed = await fetchList(registry, { ...at, tag }, "manifests", MEDIA.index);
  const entry = { ...describe(referrer), artifactType: BUNDLE_TYPE, annotations };
  const index = { schemaVersion: 2, mediaType: MEDIA.index, manifests: [...listed, entry] };
  await pushManifest(registry, { ...at, tag }, jsonBytes(index), MEDIA.index);
}

/** Beside the signatures that are there: others may have signed it too. */
async function pushSimple({ registry, reference, manifest, key }: SignOptions): Promise<void> {
  const digest = sha256(manifest);
  const { payload, annotations } = await signSimple(
    key,
    hexOf(digest),
    `${reference.registry}/${reference.repository}`,
  );
  const layer = blobOf(SIMPLE_TYPE, payload, annotations);
  const at = {
    kind: "oci",
    registry: reference.registry,
    repository: reference.repository,
    tag: `${digest.replace(":", "-")}.sig`,
  } as const;
  const layers = [...(await fetchList(registry, at, "layers", MEDIA.manifest)), describe(layer)];
  const config = blobOf(
    IMAGE_CONFIG,
    jsonBytes({
      architecture: "",
      created: "0001-01-01T00:00:00Z",
      os: "",
      rootfs: { type: "layers", diff_ids: layers.map((entry) => (entry as { digest?: unknown }).digest) },
      config: {},
    }),
  );
  for (const blob of [config, layer]) await pushBlob(registry, reference, blob, quiet);
  const signed = { schemaVersion: 2, mediaType: MEDIA.manifest, config: describe(config), layers };
  await pushManifest(registry, at, jsonBytes(signed));
}

/** Returns other people's entries as they are; none if there is no such tag yet. */
async function fetchList(
  registry: Registry,
  reference: OciReference & { readonly tag: string },
  list: "manifests" | "layers",
  mediaType: string,
): Promise<readonly unknown[]> {
  const answer = await registry.send(`${reference.repository}/manifests/${reference.tag}`, {
    headers: { accept: mediaType },
    maxBytes: MAX_MANIFEST_BYTES,
  });
  if (answer.status === 404) return [];
  if (answer.status !== 200) throw unexpected(reference.registry, "the signatures that are there", answer);
  const found = readJson(answer.body)?.[list];
  // Written anew it would lose what is there.
  if (!Array.isArray(found))
    throw refused(reference.registry, `has something else than signatures under the tag ${reference.tag}`);
  return found;
}

function hexOf(digest: string): string {
  return digest.replace("sha256:", "");
}
