/**
 * The two dialects of the API. Both lead to the same agent and the same threads; they differ in what they accept and in the form
 * of their answers.
 */
export type Dialect = "strict" | "open";

/** Strict is the specification, to the byte; older clients are pinned to `/v1`. Open is what the clients of today expect. */
export const PREFIXES: Readonly<Record<Dialect, readonly string[]>> = {
  strict: ["/api/v1", "/v1"],
  open: ["/openai/v1"],
};
