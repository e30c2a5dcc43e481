/** Every kind of place that tools come from, and who gets them from there. */

import { Fault } from "../../kernel/plugin.ts";
import { digestOf } from "../catalog/catalog.ts";
import { readCapabilitiesSection } from "../compile/capabilities-section.ts";
import type { Downloads } from "./download.ts";
import { createHttpsSource } from "./https.ts";
import type { IndexEntry } from "./index/index-file.ts";
import { createIndexes, findEntry, type Indexes, SHIPPED_INDEX } from "./index/indexes.ts";
import { fileSource, folderSource, readReference, readText } from "./local.ts";
import { createNpmSource, PUBLIC_REGISTRY } from "./npm/npm.ts";
import type { OpenRegistry } from "./oci/access.ts";
import { createOciSource } from "./oci/oci.ts";
import { createPackages, type FetchedPackage, type PackageOptions } from "./packages.ts";
import { canonicalReference, type Reference, type ReferenceOf } from "./reference.ts";
import type { Fetched, FetchOptions, Source } from "./source.ts";

export type Sources = ReturnType<typeof createSources>;

type Table = { readonly [Kind in Reference["kind"]]: Source<ReferenceOf<Kind>> };

export interface SourcesParts {
  readonly downloads: Downloads;
  readonly openRegistry: OpenRegistry;
  readonly folder: string;
  readonly indexes?: readonly string[] | undefined;
  readonly npmRegistry?: string | undefined;
  /** For everything that one tool needs, however many requests that takes. */
  readonly maxFetchMs?: number;
}

const MAX_FETCH_MS = 20 * 60_000;

export function createSources(parts: SourcesParts) {
  const { downloads, folder, indexes: named = [SHIPPED_INDEX], npmRegistry = PUBLIC_REGISTRY } = parts;
  const { maxFetchMs = MAX_FETCH_MS } = parts;
  const indexes = createIndexes(downloads, named, folder);
  /** Gives up when it takes too long. */
  async function inTime<Result>(
    reference: Reference,
    given: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const stop = new AbortController();
    const what = canonicalReference(reference);
    const slow = () =>
      new Fault("unavailable", "tool_download", `${what} did not come within ${maxFetchMs / 1000} seconds.`);
    const timer = setTimeout(() => stop.abort(slow()), maxFetchMs);
    try {
      return await work(given === undefined ? stop.signal : AbortSignal.any([stop.signal, given]));
    } finally {
      clearTimeout(timer);
    }
  }
  // The table has a source for each kind; the compiler cannot see that key and reference go together.
  const fetch = (reference: Reference, options: FetchOptions): Promise<Fetched> =>
    inTime(reference, options.signal, (signal) =>
      (table[reference.kind] as Source<Reference>).fetch(reference, { ...options, signal }),
    );
  const packages = createPackages({ downloads, openRegistry: parts.openRegistry, npmRegistry });
  const table: Table = {
    folder: folderSource,
    file: fileSource,
    https: createHttpsSource(downloads),
    oci: createOciSource(parts.openRegistry),
    npm: createNpmSource(downloads, npmRegistry),
    named: createNamedSource(indexes, fetch),
  };
  return {
    fetch,
    indexes,
    /** All files of what is there, whatever they are. */
    fetchPackage: (reference: Reference, options: PackageOptions): Promise<FetchedPackage> =>
      inTime(reference, options.signal, (signal) => packages(reference, { ...options, signal })),
  };
}

function createNamedSource(
  indexes: Indexes,
  fetch: (reference: Reference, options: FetchOptions) => Promise<Fetched>,
): Source<ReferenceOf<"named">> {
  return {
    async fetch({ name }, options) {
      const { progress, signal } = options;
      const { entries, problems } = await indexes.read(signal);
      for (const problem of problems) progress(problem);
      const entry = findEntry(entries, name);
      progress(`${name} is ${entry.from} (listed in ${entry.index})`);
      const capabilitiesText =
        options.capabilitiesText ??
        (entry.capabilities === undefined ? undefined : await readText(entry.capabilities));
      const fetched = await fetch(readReference(entry.from, "/"), { ...options, capabilitiesText });
      checkDigest(fetched, entry, capabilitiesText);
      return { ...fetched, name, origin: { ...fetched.origin, listed: name }, listedSigner: entry.signer };
    },
  };
}

/** A digest has to cover what the tool may do, too: that of a component alone does where it holds its capabilities. */
function checkDigest(
  { component, capabilitiesText, origin }: Fetched,
  { name, from, digest, index }: IndexEntry,
  given: string | undefined,
): void {
  if (digest === undefined) return;
  const isWhole = origin.kind !== "file" && origin.kind !== "folder";
  const isComponents = digest === `sha256:${digestOf(component)}`;
  if (isWhole ? digest === origin.digest : isComponents && capabilitiesText === given) return;
  const inside = isComponents ? readCapabilitiesSection(component) : undefined;
  if (inside !== undefined && inside === capabilitiesText) return;
  const why = isComponents
    ? "the digest is the component's, and does not cover the capabilities that came with it"
    : `its digest is ${origin.digest}, expected ${digest}`;
  const message = `${from} is not known to be the ${name} that the index ${index} lists: ${why}. Nothing was installed.`;
  throw new Fault("invalid", "wrong_digest", message);
}
