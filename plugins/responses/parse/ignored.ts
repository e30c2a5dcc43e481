/** Which fields of a request have no effect here. The caller is told in a header. */
import type { OpenBody } from "./body.ts";

/** Known fields whose effect is not ours to give; each is named only where it asks for something. */
const NEVER = [
  "access_programs",
  "context_management",
  "image",
  "logit_bias",
  "moderation",
  "prompt_cache_options",
  "prompt_cache_retention",
] as const;

const TIERS: ReadonlySet<unknown> = new Set([undefined, null, "auto", "default"]);
const INCLUDED: ReadonlySet<string> = new Set(["reasoning.encrypted_content"]);

export function ignoredFields(body: OpenBody): readonly string[] {
  const all = body as Readonly<Record<string, unknown>>;
  return [
    ...NEVER.filter((field) => all[field] !== undefined && all[field] !== null),
    ...["presence_penalty", "frequency_penalty", "top_logprobs"].filter((field) => Boolean(all[field])),
    ...(TIERS.has(body.service_tier) ? [] : ["service_tier"]),
    ...(body.text?.verbosity ? ["text.verbosity"] : []),
    ...(body.stream_options?.["include_obfuscation"] === true ? ["stream_options.include_obfuscation"] : []),
    ...(body.include ?? []).filter((name) => !INCLUDED.has(name)).map((name) => `include.${name}`),
  ];
}

const MOST = 32;
const LONGEST = 96;

/** As one header: whatever a stranger wrote is reduced to what a header may hold. */
export function ignoredHeader(names: readonly string[]): string {
  const clean = names.map((name) => name.replaceAll(/[^\w.:-]/g, "_").slice(0, LONGEST));
  return [...new Set(clean)].slice(0, MOST).join(", ");
}
