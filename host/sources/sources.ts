/** Every kind of place that tools come from, and who gets them from there. */
import { Fault } from "../../kernel/plugin.ts";
import type { Downloads } from "./download.ts";
import { createHttpsSource } from "./https.ts";
import { createIndexes, type Indexes, SHIPPED_INDEX } from "./index/indexes.ts";
import { createNamedSource } from "./index/named.ts";
import { fileSource, folderSource } from "./local.ts";
import { createNpmSource, PUBLIC_REGISTRY } from "./npm/npm.ts";
import type { OpenRegistry } from "./oci/access.ts";
import { createOciSource } from "./oci/oci.ts";
import { canonicalReference, type Reference, type ReferenceOf } from "./reference.ts";
import type { Fetched, FetchOptions, Source } from "./source.ts";

export interface Sources {
  /** Fetches it, unexamined; a fault says why that failed. */
  fetch(reference: Reference, options: FetchOptions): Promise<Fetched>;
  readonly indexes: Indexes;
}

type Table = { readonly [Kind in Reference["kind"]]: Source<ReferenceOf<Kind>> };

export interface SourcesParts {
  readonly downloads: Downloads;
  readonly openRegistry: OpenRegistry;
  readonly folder: string;
  /** URLs and paths of indexes, and the word for ours. */
  readonly indexes?: readonly string[] | undefined;
  readonly npmRegistry?: string | undefined;
  /** For everything that one tool needs, however many requests that takes. */
  readonly maxFetchMs?: number;
}

const MAX_FETCH_MS = 20 * 60_000;

export function createSources(parts: SourcesParts): Sources {
  const { downloads, folder, indexes: named = [SHIPPED_INDEX], npmRegistry = PUBLIC_REGISTRY } = parts;
  const { maxFetchMs = MAX_FETCH_MS } = parts;
  const indexes = createIndexes(downloads, named, folder);
  // The table has a source for each kind; the compiler cannot see that key and reference go together.
  const fetch: Sources["fetch"] = async (reference, options) => {
    const stop = new AbortController();
    const what = canonicalReference(reference);
    const slow = () =>
      new Fault("unavailable", "tool_download", `${what} did not come within ${maxFetchMs / 1000} seconds.`);
    const timer = setTimeout(() => stop.abort(slow()), maxFetchMs);
    const signal =
      options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal]);
    try {
      return await (table[reference.kind] as Source<Reference>).fetch(reference, { ...options, signal });
    } finally {
      clearTimeout(timer);
    }
  };
  const table: Table = {
    folder: folderSource,
    file: fileSource,
    https: createHttpsSource(downloads),
    oci: createOciSource(parts.openRegistry),
    npm: createNpmSource(downloads, npmRegistry),
    named: createNamedSource(indexes, fetch),
  };
  return { fetch, indexes };
}
