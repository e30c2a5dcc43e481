/** A registry's manifest of a tool, in the CNCF layout for Wasm. Reads a stranger's JSON and fetches nothing. */
import { hash } from "node:crypto";
import { isRecord, tryJson, tryUtf8, visibleLine } from "../../../kernel/kit/text.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { MAX_CAPABILITIES_BYTES, MAX_COMPONENT_BYTES } from "../../compile/capabilities-section.ts";

export const MEDIA = {
  manifest: "application/vnd.oci.image.manifest.v1+json",
  index: "application/vnd.oci.image.index.v1+json",
  config: "application/vnd.wasm.config.v0+json",
  component: "application/wasm",
  capabilities: "application/vnd.postern.capabilities.v1+json",
  readme: "application/vnd.postern.readme.v1+markdown",
  recording: "application/vnd.postern.recording.v1+json",
} as const;

export const TITLE = "org.opencontainers.image.title";
export const VERSION = "org.opencontainers.image.version";
export const MAX_MANIFEST_BYTES = 256 * 1024;

const MAX_README_BYTES = 256 * 1024;
const MAX_RECORDING_BYTES = 1024 * 1024;
const MAX_RECORDINGS = 32;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const RECORDING_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}\.json$/;

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

const MAX_BYTES: Readonly<Record<string, number>> = {
  [MEDIA.component]: MAX_COMPONENT_BYTES,
  [MEDIA.capabilities]: MAX_CAPABILITIES_BYTES,
  [MEDIA.readme]: MAX_README_BYTES,
  [MEDIA.recording]: MAX_RECORDING_BYTES,
};

export function sha256(bytes: Uint8Array): string {
  return `sha256:${hash("sha256", bytes)}`;
}

export function readManifest(bytes: Uint8Array, where: string) {
  const refuse = (why: string) => new Fault("invalid", "tool_manifest", `${where} is not a tool: ${why}.`);
  const manifest = readJson(bytes);
  if (manifest === undefined) throw refuse("its manifest is not a JSON object");
  const { mediaType = MEDIA.manifest, schemaVersion, config, layers } = manifest;
  if (mediaType === MEDIA.index || "manifests" in manifest)
    throw refuse("its manifest is an index of several; name one of them by its digest");
  if (schemaVersion !== 2 || mediaType !== MEDIA.manifest)
    throw refuse(`its manifest has the media type ${quote(mediaType)}, expected ${MEDIA.manifest}`);
  const described = readDescriptor(config);
  if (described === undefined || !Array.isArray(layers) || layers.length > MAX_RECORDINGS + 3)
    throw refuse("its manifest has no config, or not the layers of one");
  if (described.mediaType !== MEDIA.config)
    throw refuse(`its config has the media type ${quote(described.mediaType)}, expected ${MEDIA.config}`);
  const found = layers.map((layer: unknown) => {
    const descriptor = readDescriptor(layer);
    if (descriptor === undefined) throw refuse("a layer has no media type, no SHA-256 digest or no size");
    const most = Object.hasOwn(MAX_BYTES, descriptor.mediaType) ? MAX_BYTES[descriptor.mediaType] : undefined;
    if (most === undefined)
      throw refuse(`a layer has the media type ${quote(descriptor.mediaType)}, which is not one of a tool's`);
    if (descriptor.size > most)
      throw refuse(
        `its layer ${descriptor.mediaType} has ${descriptor.size} bytes; at most ${most} are read`,
      );
    return descriptor;
  });
  const of = (type: string) => found.filter((descriptor) => descriptor.mediaType === type);
  const one = (type: string) => {
    const [first, ...more] = of(type);
    if (more.length > 0)
      throw refuse(`it has ${more.length + 1} layers of ${type}, and only one is expected`);
    return first;
  };
  const component = one(MEDIA.component);
  const capabilities = one(MEDIA.capabilities);
  const readme = one(MEDIA.readme);
  if (component === undefined) throw refuse(`it has no layer of ${MEDIA.component}`);
  const recordings = of(MEDIA.recording);
  if (!recordings.every(({ annotations }) => RECORDING_NAME.test(annotations?.[TITLE] ?? "")))
    throw refuse(`a recording has no usable name in ${TITLE}`);
  return { component, capabilities, readme, recordings };
}

const ARCHIVES = ["application/vnd.oci.image.layer.v1.tar+gzip", "application/zip", "application/gzip"];

export function readArchiveLayer(bytes: Uint8Array, where: string, maxBytes: number): Descriptor {
  const refuse = (why: string) => new Fault("invalid", "tool_manifest", `${where} cannot be used: ${why}.`);
  const layers = readJson(bytes)?.["layers"];
  const [layer, ...others] = Array.isArray(layers) ? layers.map(readDescriptor) : [];
  if (layer === undefined || others.length > 0) throw refuse("its manifest has not exactly one layer");
  if (!ARCHIVES.includes(layer.mediaType))
    throw refuse(`its layer has the media type ${quote(layer.mediaType)}; expected ${ARCHIVES.join(" or ")}`);
  if (layer.size > maxBytes) throw refuse(`its layer has ${layer.size} bytes; at most ${maxBytes} are read`);
  return layer;
}

export function readJson(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  const value = tryJson(tryUtf8(bytes) ?? "");
  return isRecord(value) ? value : undefined;
}

export function readDescriptor(value: unknown): Descriptor | undefined {
  if (!isRecord(value)) return undefined;
  const { mediaType, digest, size, annotations } = value;
  if (typeof mediaType !== "string" || typeof digest !== "string" || !DIGEST.test(digest)) return undefined;
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0) return undefined;
  const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === "string";
  if (!isRecord(annotations)) return { mediaType, digest, size };
  return {
    mediaType,
    digest,
    size,
    annotations: Object.fromEntries(Object.entries(annotations).filter(isText)),
  };
}

function quote(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return visibleLine(JSON.stringify(text.slice(0, 100)));
}
