/** Tools from OCI registries. */
import { tryUtf8 } from "../../../kernel/kit/text.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { readCapabilitiesSection } from "../../compile/capabilities-section.ts";
import { progressOf } from "../download.ts";
import { canonicalReference, type OciReference } from "../reference.ts";
import type { Fetched, FetchOptions, RecordingFile, Source } from "../source.ts";
import type { OpenRegistry } from "./access.ts";
import { findEvidence } from "./evidence.ts";
import {
  type Descriptor,
  MAX_MANIFEST_BYTES,
  MEDIA,
  readArchiveLayer,
  readManifest,
  sha256,
  TITLE,
} from "./manifest.ts";
import { type Registry, refused, unexpected } from "./registry.ts";

export function createOciSource(open: OpenRegistry): Source<OciReference> {
  return {
    async fetch(reference, options) {
      const { signal } = options;
      const where = canonicalReference(reference);
      const registry = open(reference, "pull");
      const { bytes, digest } = await requireManifest(registry, reference, options);
      const manifest = readManifest(bytes, where);
      const get = (descriptor: Descriptor) => fetchBlob(registry, reference, descriptor, options);
      const text = async (descriptor: Descriptor) => {
        const found = tryUtf8(await get(descriptor));
        if (found !== undefined) return found;
        const message = `The layer ${descriptor.mediaType} of ${where} is not UTF-8 text.`;
        throw new Fault("invalid", "tool_manifest", message);
      };
      // The small ones first: what is wrong with them is said before megabytes have come.
      const given =
        options.capabilitiesText ?? (manifest.capabilities && (await text(manifest.capabilities)));
      const evidence = await findEvidence(registry, reference, bytes, signal);
      const readme = manifest.readme && (await text(manifest.readme));
      const recordings: RecordingFile[] = [];
      for (const layer of manifest.recordings)
        recordings.push({ name: layer.annotations?.[TITLE] ?? "", text: await text(layer) });
      const component = await get(manifest.component);
      // Pushed by another program, it may still have been made by `tool build`.
      const capabilitiesText = given ?? readCapabilitiesSection(component);
      if (capabilitiesText === undefined) {
        const message = `Nothing says what ${where} may do: it has no layer of ${MEDIA.capabilities}, and there is none inside the component.`;
        throw new Fault("invalid", "no_capabilities", message, { param: "capabilities", usage: true });
      }
      return {
        component,
        capabilitiesText,
        name: reference.repository.split("/").at(-1) ?? "",
        origin: { kind: "oci", reference: where, digest, tag: reference.tag },
        evidence,
        recordings,
        readme,
      } satisfies Fetched;
    },
  };
}

/** An archive that is the only layer of a manifest, as `oras push registry/name:tag folder` makes it. */
export async function fetchArchive(
  open: OpenRegistry,
  reference: OciReference,
  maxBytes: number,
  options: Pick<FetchOptions, "progress" | "signal">,
): Promise<Pick<Fetched, "origin" | "evidence"> & { readonly data: Uint8Array }> {
  const where = canonicalReference(reference);
  const registry = open(reference, "pull");
  const { bytes, digest } = await requireManifest(registry, reference, options);
  const layer = readArchiveLayer(bytes, where, maxBytes);
  return {
    evidence: await findEvidence(registry, reference, bytes, options.signal),
    data: await fetchBlob(registry, reference, layer, options),
    origin: { kind: "oci", reference: where, digest, tag: reference.tag },
  };
}

async function requireManifest(
  registry: Registry,
  reference: OciReference,
  { progress, signal }: Pick<FetchOptions, "progress" | "signal">,
) {
  const where = canonicalReference(reference);
  progress(`asking ${reference.registry} for ${where}`);
  const found = await fetchManifest(registry, reference, signal);
  if (found === undefined)
    throw new Fault("missing", "no_such_tool", `There is no ${where} at ${reference.registry}.`);
  return found;
}

/** Undefined where there is none. Its digest is that of its bytes, whatever the registry says. */
export async function fetchManifest(registry: Registry, reference: OciReference, signal?: AbortSignal) {
  const { repository, tag, digest } = reference;
  const where = canonicalReference(reference);
  const answer = await registry.send(`${repository}/manifests/${digest ?? tag}`, {
    headers: { accept: `${MEDIA.manifest}, ${MEDIA.index}` },
    maxBytes: MAX_MANIFEST_BYTES,
    signal,
  });
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw unexpected(reference.registry, where, answer);
  const found = sha256(answer.body);
  const said = answer.headers["docker-content-digest"]?.toString();
  if (digest !== undefined && digest !== found)
    throw refused(reference.registry, `answered with the manifest ${found} for ${where}`);
  if (said?.startsWith("sha256:") === true && said !== found)
    throw refused(
      reference.registry,
      `says that the manifest of ${where} is ${said.slice(0, 80)}, but it is ${found}`,
    );
  return { bytes: answer.body, digest: found };
}

async function fetchBlob(
  registry: Registry,
  reference: OciReference,
  { digest, size, mediaType }: Descriptor,
  { progress, signal }: Pick<FetchOptions, "progress" | "signal">,
): Promise<Uint8Array<ArrayBuffer>> {
  const where = canonicalReference(reference);
  const answer = await registry.send(`${reference.repository}/blobs/${digest}`, {
    headers: { accept: "*/*" },
    maxBytes: size,
    signal,
    onBytes: progressOf(where, size, progress),
  });
  if (answer.status !== 200)
    throw unexpected(reference.registry, `the layer ${mediaType} of ${where}`, answer);
  const { body } = answer;
  if (body.length !== size)
    throw refused(
      reference.registry,
      `ended the layer ${mediaType} of ${where} after ${body.length} of ${size} bytes`,
    );
  const found = sha256(body);
  if (found !== digest)
    throw refused(
      reference.registry,
      `answered with other bytes than the manifest of ${where} names: the layer ${mediaType} is ${found}, expected ${digest}`,
    );
  return body;
}
