/** Text that a model must not obey: wrapping it, finding orders in it, undoing its encodings. */

export { readings } from "../text/decodings.ts";
export { capText, cautionFor, escapeTags, findOrders, ownWords, textsIn, wrapOutput } from "../text/wrap.ts";
