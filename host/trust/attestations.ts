/** Reads what an npm registry keeps about who built a version: `npm publish --provenance` puts it there. */
import { MAX_SIGNATURES } from "./evidence.ts";
import { PROVENANCE } from "./statement.ts";

/** The bundles in an answer of `/-/npm/v1/attestations/<package>@<version>` that say who built it. The registry's own word that it published the package is not one of them. */
export function readAttestations(answer: Uint8Array): Uint8Array[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(answer).toString("utf8"));
  } catch {
    return [];
  }
  const { attestations } = (parsed ?? {}) as { readonly attestations?: unknown };
  if (!Array.isArray(attestations)) return [];
  return attestations
    .slice(0, MAX_SIGNATURES)
    .filter((entry: { readonly predicateType?: unknown } | null) => entry?.predicateType === PROVENANCE)
    .map(({ bundle }: { readonly bundle?: unknown }) => Buffer.from(JSON.stringify(bundle ?? null)));
}
