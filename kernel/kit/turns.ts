/** Turns as channels, the agent and the store see them: what was said, what a thread waits for, and what it cost. */

export {
  ApprovalDecision,
  Doubt,
  DoubtReason,
  Gate,
  ParamRule,
  PlannedStep,
  Reply,
  RuleOffer,
  TurnTask,
} from "../vocabulary/gate.ts";
export { type Generation, ModelName } from "../vocabulary/model.ts";
export { distinctOrigins, MODEL, Origin, othersIn } from "../vocabulary/origin.ts";
export {
  answerText,
  askedIn,
  Failure,
  INTERRUPTED,
  isCutShort,
  Outside,
  ThreadSummary,
  TurnEvent,
  TurnRecord,
} from "../vocabulary/turn.ts";
export {
  AnsweredQuestions,
  countedUsd,
  estimateText,
  Figure,
  Figures,
  NO_USAGE,
  Usage,
  UsageBy,
  UsedStorage,
  WireUsage,
} from "../vocabulary/usage.ts";
