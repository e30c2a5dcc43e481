/** The two ways in. Both lead to the same agent and the same threads; they differ in what they take and how they answer. */
export interface Door {
  readonly name: "strict" | "open";
  readonly prefixes: readonly string[];
}

/** What the specification says, to the byte; the second prefix is the one that older clients are pinned to. */
export const STRICT: Door = { name: "strict", prefixes: ["/api/v1", "/v1"] };

/** What the clients of today expect behind a base URL. */
export const OPEN: Door = { name: "open", prefixes: ["/openai/v1"] };

export const DOORS: readonly Door[] = [STRICT, OPEN];
