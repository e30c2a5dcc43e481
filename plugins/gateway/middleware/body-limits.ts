/** §8: how much a request may bring. */
export const BODY_BYTES = 14 * 1024 * 1024;
/** Before somebody has signed in there is nothing long to say. */
export const OPEN_BODY_BYTES = 64 * 1024;
