/** One line for whoever asked: what is wrong, and what to do. */
export class Refusal extends Error {}
