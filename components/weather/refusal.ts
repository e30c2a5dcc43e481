/** An error for the model: why this call has no result. Anything else thrown is a bug. */
export class Refusal extends Error {}
