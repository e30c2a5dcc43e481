/** Sealing texts, and finding and hiding known secrets in every form in which they travel. */

export { type Keys, type SealingKey, seal, unseal } from "../crypto/seal.ts";
export { type Automaton, createAutomaton, startCursor } from "../mask/automaton.ts";
export { base64Within, canBeHidden, encodePathValue, SHORTEST } from "../mask/forms.ts";
export { createMask, type Mask } from "../mask/mask.ts";
export { createHidingStream, createMatcher, type Matcher } from "../mask/matcher.ts";
export { hideShapes, KEY_START, openEnd, redact } from "../mask/redact.ts";
