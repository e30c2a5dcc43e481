/** Turns as channels, the agent and the store see them: what was said, what a thread waits for, and what it cost. */

export { decisionsAt, whyHeld } from "../vocabulary/approval.ts";
export { MAX_DOUBTS, type Piece, tell } from "../vocabulary/doubts.ts";
export {
  ApprovalDecision,
  Doubt,
  distinctOrigins,
  Gate,
  Origin,
  Reply,
  TurnTask,
} from "../vocabulary/gate.ts";
export { type Generation, ModelName } from "../vocabulary/model.ts";
export {
  type Field,
  type FieldValue,
  fieldsOf,
  mistakeIn,
  mistakeInReplies,
  refuseQuestions,
} from "../vocabulary/questions.ts";
export { findSources, type Source, sourcesOf } from "../vocabulary/sources.ts";
export {
  answerText,
  Failure,
  INTERRUPTED,
  Outside,
  ThreadSummary,
  TurnEvent,
  TurnRecord,
} from "../vocabulary/turn.ts";
export {
  estimateText,
  Figure,
  Figures,
  NO_USAGE,
  Usage,
  UsageBy,
  UsedStorage,
  WireUsage,
} from "../vocabulary/usage.ts";
