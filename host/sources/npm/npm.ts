/**
 * Tools in npm packages. The registry says where a version's tarball is and which SHA-512 it has; the tarball is read in memory, and no
 * script of it is run. The `postern` field of its package.json says which of its files is what:
 *
 *     "postern": { "component": "dist/weather.wasm", "capabilities": "capabilities.json", "name": "weather", "recordings": "recordings" }
 *
 * All of them may be left out: then it is the only component there is, the capabilities inside it or beside package.json, the package's name,
 * and a folder of that name.
 */
import { hash } from "node:crypto";
import { isRecord, tryRecord, visibleLine } from "../../../kernel/kit/text.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";
import {
  MAX_CAPABILITIES_BYTES,
  MAX_COMPONENT_BYTES,
  readCapabilitiesSection,
} from "../../compile/capabilities-section.ts";
import { MAX_SIGNATURES } from "../../trust/evidence.ts";
import { PROVENANCE } from "../../trust/statement.ts";
import { type Downloads, getFile } from "../download.ts";
import { canonicalReference, type ReferenceOf } from "../reference.ts";
import type { Fetched, FetchOptions, Source } from "../source.ts";
import { chooseRelease, type Release } from "./metadata.ts";
import { type PackageFiles, readTarball } from "./tarball.ts";

export const PUBLIC_REGISTRY = "https://registry.npmjs.org";

const ABBREVIATED = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8";
const MAX_METADATA = 8 * 1024 * 1024;
const UNPACKED = { maxBytes: 2 * MAX_COMPONENT_BYTES, maxEntries: 5000 };
const MAX_ATTESTATIONS = 1024 * 1024;
const MAX_MANIFEST = 256 * 1024;
const MAX_README = 256 * 1024;
const MAX_RECORDING = 1024 * 1024;
const MAX_RECORDINGS = 50;
const METADATA_MS = 30_000;
const TARBALL_MS = 5 * 60_000;

interface FetchedRelease extends Pick<Fetched, "origin" | "evidence"> {
  readonly files: PackageFiles;
  /** Its package.json. */
  readonly manifest: Readonly<Record<string, unknown>>;
  /** For people. */
  readonly what: string;
}

/** A version of a package with its files, which are what the registry says they are. */
export type FetchRelease = (
  reference: ReferenceOf<"npm">,
  options: Pick<FetchOptions, "progress" | "signal">,
  bounds: { readonly maxBytes: number; readonly maxEntries: number },
) => Promise<FetchedRelease>;

export function createReleases(downloads: Downloads, registry: string): FetchRelease {
  const base = registry.endsWith("/") ? registry : `${registry}/`;
  return async (reference, { progress, signal }, bounds) => {
    const { name, range } = reference;
    const metadata = await getFile(downloads, `${base}${name}`, `npm:${name}`, {
      maxBytes: MAX_METADATA,
      timeoutMs: METADATA_MS,
      accept: ABBREVIATED,
      signal,
    });
    const release = chooseRelease(Buffer.from(metadata).toString("utf8"), name, range);
    const what = `npm:${name}@${release.version}`;
    progress(`downloading ${what}`);
    const tarball = await getFile(downloads, placeOf(release, base), what, {
      maxBytes: MAX_COMPONENT_BYTES,
      timeoutMs: TARBALL_MS,
      namedBy: new URL(base),
      signal,
    });
    checkIntegrity(tarball, release, what);
    const files = await readTarball(tarball, what, bounds);
    return {
      what,
      files,
      manifest: readManifest(files, { name, version: release.version }, what),
      origin: {
        kind: "npm",
        reference: canonicalReference(reference),
        digest: `sha512-${release.sha512}`,
        version: release.version,
        tag: range,
      },
      evidence: {
        subject: tarball,
        bundles: await fetchAttestations(downloads, base, name, release, signal),
        simple: [],
      },
    };
  };
}

export function createNpmSource(downloads: Downloads, registry: string): Source<ReferenceOf<"npm">> {
  const fetchRelease = createReleases(downloads, registry);
  return {
    async fetch(reference, options) {
      const { origin, evidence, ...release } = await fetchRelease(reference, options, UNPACKED);
      return { ...readPackage(release, reference.name, options.capabilitiesText), origin, evidence };
    },
  };
}

/** Who built it, which the registry keeps apart from the package. */
async function fetchAttestations(
  downloads: Downloads,
  base: string,
  name: string,
  { version, isAttested }: Release,
  signal: AbortSignal | undefined,
): Promise<Uint8Array[]> {
  if (!isAttested) return [];
  const place = `${base}-/npm/v1/attestations/${name}@${version}`;
  const answer = await getFile(downloads, place, `the attestations of npm:${name}@${version}`, {
    maxBytes: MAX_ATTESTATIONS,
    timeoutMs: METADATA_MS,
    accept: "application/json",
    signal,
  });
  return readAttestations(answer);
}

/** Mirrors pass on the public registry's addresses; as npm does, they are asked at the mirror. */
function placeOf({ tarball }: Release, base: string): string {
  return tarball.startsWith(`${PUBLIC_REGISTRY}/`)
    ? `${base}${tarball.slice(PUBLIC_REGISTRY.length + 1)}`
    : tarball;
}

function checkIntegrity(tarball: Uint8Array, { sha512 }: Release, what: string): void {
  const found = hash("sha512", tarball, "base64");
  if (found === sha512) return;
  const message = `${what} is not what the registry says it is: its tarball has SHA-512 ${found}, expected ${sha512}. Nothing was installed.`;
  throw new Fault("invalid", "wrong_integrity", message);
}

type Contents = Pick<Fetched, "component" | "capabilitiesText" | "name" | "recordings" | "readme">;

function readPackage(
  { files, manifest, what }: Pick<FetchedRelease, "files" | "manifest" | "what">,
  asked: string,
  given: string | undefined,
): Contents {
  const refuse = refusing(what);
  const text = (path: string, most: number) => textIn(files, path, most, refuse);
  const field = readField(manifest, refuse);
  const path = field.component ?? findComponent(files, refuse);
  const component = files.get(path);
  if (component === undefined) throw refuse(`its postern field names ${show(path)}, which is not in it`);
  if (component.length > MAX_COMPONENT_BYTES)
    throw refuse(`${show(path)} has ${component.length} bytes; at most ${MAX_COMPONENT_BYTES} are read`);
  if (field.capabilities !== undefined && !files.has(field.capabilities))
    throw refuse(`its postern field names ${show(field.capabilities)}, which is not in it`);
  const capabilitiesText =
    given ??
    (field.capabilities === undefined
      ? (readCapabilitiesSection(component) ?? text("capabilities.json", MAX_CAPABILITIES_BYTES))
      : text(field.capabilities, MAX_CAPABILITIES_BYTES));
  if (capabilitiesText === undefined) throw refuse("nothing says what the tool may do", "capabilities");
  const readme = [...files.keys()].find((name) => name.toLowerCase() === "readme.md");
  const readmeText = readme === undefined ? undefined : text(readme, MAX_README);
  const folder = `${field.recordings ?? "recordings"}/`;
  const names = [...files.keys()].filter((name) => name.startsWith(folder) && name.endsWith(".json"));
  if (names.length > MAX_RECORDINGS)
    throw refuse(`it has ${names.length} recordings; at most ${MAX_RECORDINGS} are read`);
  return {
    component,
    capabilitiesText,
    name: field.name ?? asked.slice(asked.indexOf("/") + 1),
    recordings: names
      .sort()
      .map((name) => ({ name: name.slice(folder.length), text: text(name, MAX_RECORDING) ?? "" })),
    readme: readmeText,
  };
}

type Refuse = (why: string, param?: string) => Fault;

function refusing(what: string): Refuse {
  return (why, param) => new Fault("invalid", "bad_package", `${what} cannot be used: ${why}.`, { param });
}

function textIn(files: PackageFiles, path: string, most: number, refuse: Refuse): string | undefined {
  const data = files.get(path);
  if (data === undefined) return undefined;
  if (data.length > most) throw refuse(`${show(path)} has ${data.length} bytes; at most ${most} are read`);
  return Buffer.from(data).toString("utf8");
}

function readManifest(
  files: PackageFiles,
  asked: { readonly name: string; readonly version: string },
  what: string,
): Readonly<Record<string, unknown>> {
  const refuse = refusing(what);
  const text = textIn(files, "package.json", MAX_MANIFEST, refuse);
  if (text === undefined) throw refuse("it has no package.json");
  let parsed: Readonly<Record<string, unknown>> | null;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw refuse(`its package.json is not JSON (${visibleLine(reason(error))})`);
  }
  const { name = asked.name, version = asked.version } = parsed ?? {};
  // A signature is about the tarball alone: without this, one of another package by the same signer would do.
  if (name !== asked.name || version !== asked.version)
    throw refuse(`its package.json says that it is ${show(`${String(name)}@${String(version)}`)}`);
  return parsed ?? {};
}

interface PosternField {
  readonly component?: string;
  readonly capabilities?: string;
  readonly name?: string;
  readonly recordings?: string;
}

function readField({ postern }: Readonly<Record<string, unknown>>, refuse: Refuse): PosternField {
  if (!isRecord(postern)) throw refuse('it is not a tool: its package.json has no "postern" field');
  const value = (key: keyof PosternField): string | undefined => {
    const found = postern[key];
    if (found === undefined) return undefined;
    if (typeof found !== "string" || found === "" || found.length > 512)
      throw refuse(`the "${key}" of its postern field has to be one text`);
    return key === "name" ? found : found.replace(/^\.\//, "").replace(/\/$/, "");
  };
  const entries = (["component", "capabilities", "name", "recordings"] as const).flatMap((key) => {
    const found = value(key);
    return found === undefined ? [] : [[key, found] as const];
  });
  return Object.fromEntries(entries);
}

function findComponent(files: PackageFiles, refuse: Refuse): string {
  const found = [...files.keys()].filter((name) => name.endsWith(".wasm")).sort();
  const [only, ...others] = found;
  if (only === undefined) throw refuse("there is no component (.wasm) in it");
  if (others.length > 0)
    throw refuse(
      `it has ${found.length} components (${found.slice(0, 4).map(show).join(", ")}), and its postern field does not say which one is the tool`,
    );
  return only;
}

function show(path: string): string {
  return visibleLine(path.length > 100 ? `${path.slice(0, 100)}…` : path);
}

/** The bundles in an answer of `/-/npm/v1/attestations/<package>@<version>` that say who built it. The registry's own word that it published the package is not one of them. */
export function readAttestations(answer: Uint8Array): Uint8Array[] {
  const { attestations } = tryRecord(Buffer.from(answer).toString("utf8"));
  if (!Array.isArray(attestations)) return [];
  return attestations
    .slice(0, MAX_SIGNATURES)
    .filter((entry: { readonly predicateType?: unknown } | null) => entry?.predicateType === PROVENANCE)
    .map(({ bundle }: { readonly bundle?: unknown }) => Buffer.from(JSON.stringify(bundle ?? null)));
}
