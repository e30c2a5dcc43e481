/** Who is talking to the agent. */
export interface User {
  readonly id: string;
  readonly role: "operator" | "user";
}

/** The person who runs this Postern: whoever is at its terminal, with the same threads as in the browser. */
export const OPERATOR = "operator";
