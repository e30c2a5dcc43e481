/** A tool by its bare name: the index says where it is, and what was fetched from there has to be what the index says. */
import { existsSync } from "node:fs";
import { Fault } from "../../../kernel/plugin.ts";
import { digestOf } from "../../catalog/catalog.ts";
import { buildShipped } from "../../catalog/shipped.ts";
import { readCapabilitiesSection } from "../../compile/capabilities-section.ts";
import { readReference, readText } from "../local.ts";
import type { Reference, ReferenceOf } from "../reference.ts";
import type { Fetched, FetchOptions, Source } from "../source.ts";
import type { IndexEntry } from "./index-file.ts";
import { type Indexes, SHIPPED_INDEX } from "./indexes.ts";
import { findEntry } from "./search.ts";

export function createNamedSource(
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
      // In a clone, what is shipped is built when it is first needed.
      if (entry.index === SHIPPED_INDEX && !existsSync(entry.from))
        await buildShipped(name, progress, signal ?? new AbortController().signal);
      const capabilitiesText =
        options.capabilitiesText ??
        (entry.capabilities === undefined ? undefined : await readText(entry.capabilities));
      const fetched = await fetch(readReference(entry.from, "/"), {
        ...options,
        capabilitiesText,
      });
      checkDigest(fetched, entry, capabilitiesText);
      return {
        ...fetched,
        name,
        origin: { ...fetched.origin, listed: name },
        listedSigner: entry.signer,
      };
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
  throw new Fault(
    "invalid",
    "wrong_digest",
    `${from} is not known to be the ${name} that the index ${index} lists: ${why}. Nothing was installed.`,
  );
}
