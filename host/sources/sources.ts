/** Every kind of place that tools come from, and who gets them from there. */
import { Fault } from "../../kernel/plugin.ts";
import type { Downloads } from "./download.ts";
import { createHttpsSource } from "./https.ts";
import { fileSource, folderSource } from "./local.ts";
import type { OpenRegistry } from "./oci/access.ts";
import { createOciSource } from "./oci/oci.ts";
import type { Reference, ReferenceOf } from "./reference.ts";
import type { Fetched, FetchOptions, Source } from "./source.ts";

export interface Sources {
  /** What is there, unexamined; a fault says why nothing was got. */
  fetch(reference: Reference, options: FetchOptions): Promise<Fetched>;
}

type Table = { readonly [Kind in Reference["kind"]]: Source<ReferenceOf<Kind>> };

export function createSources(parts: {
  readonly downloads: Downloads;
  readonly openRegistry: OpenRegistry;
}): Sources {
  const table: Table = {
    folder: folderSource,
    file: fileSource,
    https: createHttpsSource(parts.downloads),
    oci: createOciSource(parts.openRegistry),
    npm: missing,
    named: missing,
  };
  return {
    // The table has a source for each kind; the compiler cannot see that key and reference go together.
    fetch: (reference, options) => (table[reference.kind] as Source<Reference>).fetch(reference, options),
  };
}

const missing: Source<Reference> = {
  async fetch({ kind }) {
    throw new Fault("invalid", "tool_reference", `Postern cannot install tools by ${kind} yet.`);
  },
};
