/** A tool pushed to a registry, in the layout that installs read. A version is published once: its content never changes. */
import { Fault } from "../../../kernel/plugin.ts";
import { jsonBytes } from "../../trust/signer.ts";
import { canonicalReference, type OciReference } from "../reference.ts";
import type { Fetched } from "../source.ts";
import { MEDIA, readManifest, sha256, TITLE, VERSION } from "./manifest.ts";
import { fetchManifest } from "./oci.ts";
import { blobOf, describe, pushBlob, pushManifest } from "./push.ts";
import type { Registry } from "./registry.ts";

export interface PublishOptions {
  readonly registry: Registry;
  readonly reference: OciReference;
  readonly version: string;
  readonly tool: Pick<Fetched, "component" | "capabilitiesText" | "recordings" | "readme">;
  readonly progress: (line: string) => void;
}

/** Under the version's tag, which never moves, and under the tag that was named, which does. */
export async function publish(options: PublishOptions) {
  const { registry, reference, version, tool, progress } = options;
  if (reference.digest !== undefined)
    throw new Fault("invalid", "publish_digest", "Publish to a tag, not to a digest.", { usage: true });
  const own: OciReference = { ...reference, tag: tagOf(version) };
  const { config, layers } = blobsOf(tool);
  const manifest = jsonBytes({
    schemaVersion: 2,
    mediaType: MEDIA.manifest,
    config: describe(config),
    layers: layers.map(describe),
    annotations: { [VERSION]: version },
  });
  const digest = sha256(manifest);
  // A manifest that this refuses would be refused when it is installed.
  readManifest(manifest, canonicalReference(own));
  const known = await fetchManifest(registry, own);
  if (known !== undefined && known.digest !== digest) {
    const message = `Version ${version} is already published at ${canonicalReference(own)} with other content (${known.digest}). Raise "version" in capabilities.json.`;
    throw new Fault("invalid", "version_exists", message);
  }
  if (known === undefined) {
    for (const blob of [config, ...layers]) await pushBlob(registry, own, blob, progress);
    await pushManifest(registry, own, manifest);
  }
  const moving = reference.tag ?? own.tag;
  if (moving !== undefined && moving !== own.tag)
    await pushManifest(registry, { ...reference, tag: moving }, manifest);
  const tags = [...new Set([own.tag, moving])].flatMap((tag) => tag ?? []);
  return { digest, manifest, reference: own, tags, isNew: known === undefined };
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
    jsonBytes({
      architecture: "wasm",
      os: "wasip2",
      layerDigests: layers.map(({ digest }) => digest),
    }),
  );
  return { config, layers };
}

/** Semantic versions may have a plus, which tags may not. */
function tagOf(version: string): string {
  const tag = version.replaceAll("+", "_");
  if (!/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(tag)) {
    const message = `The version ${JSON.stringify(version)} in capabilities.json cannot be a tag: use letters, digits and . _ -`;
    throw new Fault("invalid", "publish_version", message);
  }
  return tag;
}
