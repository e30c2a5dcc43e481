/** What channels show of an answer and of a question to a person: pure functions, which a page in a browser can load too. */

export { agreedRule, decisionsAt, sayRule, whyHeld } from "../vocabulary/approval.ts";
export {
  type CallCounts,
  type CallState,
  COUNTED,
  type Counted,
  DEEDS,
  type Deed,
  type DeedWords,
  tellDeed,
  tellingParam,
  tellLines,
} from "../vocabulary/call-summary.ts";
export { type CodeResult, type CodeRun, readCodeRun } from "../vocabulary/code-run.ts";
export { MAX_DOUBTS, type Piece, type Told, tell } from "../vocabulary/doubts.ts";
export {
  type Field,
  type FieldValue,
  fieldsOf,
  mistakeIn,
  mistakeInReplies,
  refuseQuestions,
} from "../vocabulary/questions.ts";
export { findSources, type Source, sourcesOf } from "../vocabulary/sources.ts";
