/** Whoever is at the terminal is the operator: the same threads as in the browser. */
export const OPERATOR = "operator";
