/** A sentence for the model: why this call has no result. Anything else that is thrown is a bug. */
export class Refusal extends Error {}
