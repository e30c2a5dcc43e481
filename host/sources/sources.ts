/** Every kind of place that tools come from, and who gets them from there. */
import type { Downloads } from "./download.ts";
import { createHttpsSource } from "./https.ts";
import { createIndexes, type Indexes, SHIPPED_INDEX } from "./index/indexes.ts";
import { createNamedSource } from "./index/named.ts";
import { fileSource, folderSource } from "./local.ts";
import { createNpmSource, PUBLIC_REGISTRY } from "./npm/npm.ts";
import type { OpenRegistry } from "./oci/access.ts";
import { createOciSource } from "./oci/oci.ts";
import type { Reference, ReferenceOf } from "./reference.ts";
import type { Fetched, FetchOptions, Source } from "./source.ts";

export interface Sources {
  /** What is there, unexamined; a fault says why nothing was got. */
  fetch(reference: Reference, options: FetchOptions): Promise<Fetched>;
  readonly indexes: Indexes;
}

type Table = { readonly [Kind in Reference["kind"]]: Source<ReferenceOf<Kind>> };

export interface SourcesParts {
  readonly downloads: Downloads;
  readonly openRegistry: OpenRegistry;
  /** What paths of indexes start from. */
  readonly folder: string;
  /** URLs and paths of indexes, and the word for ours. */
  readonly indexes?: readonly string[] | undefined;
  readonly npmRegistry?: string | undefined;
}

export function createSources(parts: SourcesParts): Sources {
  const { downloads, folder, indexes: named = [SHIPPED_INDEX], npmRegistry = PUBLIC_REGISTRY } = parts;
  const indexes = createIndexes(downloads, named, folder);
  // The table has a source for each kind; the compiler cannot see that key and reference go together.
  const fetch: Sources["fetch"] = (reference, options) =>
    (table[reference.kind] as Source<Reference>).fetch(reference, options);
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
