/**
 * What one builds a plugin with: requests in and out, checks, limits, lines for a terminal. `postern/plugin` says what a plugin
 * is; this is the toolbox beside it. The plugins that Postern ships, and the tool host, use these two modules of the kernel alone.
 */
export { findRunning, prepareHome } from "./cli/service/home.ts";
export {
  createRing,
  deriveKey,
  type Keys,
  ringOf,
  type SealingKey,
  seal,
  unseal,
  unsealWith,
} from "./crypto/sealing.ts";
export { Fault, type FaultKind, reason } from "./fault.ts";
export { makeFolders } from "./files/folders.ts";
export { makePrivate } from "./files/ownership.ts";
export { createLog, LOG_LEVELS, type Log } from "./log/log.ts";
export { matcherOf } from "./log/reading.ts";
export { currentTraceparent, withTraceparent } from "./log/trace-context.ts";
export { canBeHidden, encodePathValue, SHORTEST } from "./mask/forms.ts";
export { createMask, type Mask } from "./mask/mask.ts";
export { createHidingStream, createMatcher, type Matcher } from "./mask/matcher.ts";
export { createRedactStream, redact } from "./mask/redact.ts";
export { createMutex } from "./mutex.ts";
export {
  AddressRefused,
  hostAndPort,
  isLoopback,
  type Lookup,
  type PrivateHosts,
  parsePrivateHosts,
  resolveFor,
} from "./net/address.ts";
export { parseJson, readBody, readJson } from "./net/body.ts";
export { createFormReader, type Form, type FormReader } from "./net/form.ts";
export {
  type ChannelRules,
  ErrorEnvelope,
  type HttpFault,
  httpFault,
  statusFault,
} from "./net/http-fault.ts";
export { type Listener, listen } from "./net/listen.ts";
export { clientDocument, clientDocumentUrl, clientMetadata } from "./net/oauth-client.ts";
export {
  createOutbound,
  createThrottle,
  type FetchBounds,
  MAX_REPLY_BYTES,
  type Outbound,
  OutboundError,
  type OutboundOptions,
  type OutboundReply,
  type OutboundRequest,
} from "./net/outbound.ts";
export { examinePort } from "./net/port-check.ts";
export { createProxies, type Proxies, readTrustedProxies } from "./net/proxies.ts";
export { applyLimit, limitWords, RATE_LIMIT_EXCEEDED, RATE_LIMIT_HEADERS } from "./net/rate-limit.ts";
export { compressAnswers, type Policy, secureAnswers } from "./net/response-headers.ts";
export { type Asked, type CheckedRoute, mountRoutes, type RouteDefinition } from "./net/routes.ts";
export { examineSecret, showWeaknesses } from "./net/weak-secret.ts";
export type { MountedProtocol, MountedSocket, RouteDescription, Web } from "./net/web.ts";
export { oneAtATime } from "./one-at-a-time.ts";
export { MANIFEST, ROOT, threadFile } from "./package.ts";
export { bytesOf, type Check, compileCheck } from "./schema/check.ts";
export { type Declared, JsonSchema, named, nullable } from "./schema/declare.ts";
export { describeMistake, type Mistake } from "./schema/mistake.ts";
export { Time, Type } from "./schema/type.ts";
export { toWire } from "./schema/wire-convert.ts";
export { type Rendering, wireSchema } from "./schema/wire-schema.ts";
export { Settings } from "./settings/env.ts";
export {
  ChangeableSetting,
  changeable,
  type Live,
  type LiveReader,
  readAll,
  type SettingValues,
  type StoredSettings,
} from "./settings/live.ts";
export type { Problem, Setting, StoredValue, StoredValues } from "./settings/setting.ts";
export { openStatusLine, say, sayJson, sayPainted, warn } from "./terminal/output.ts";
export { isInteractive, readSecret } from "./terminal/secret-input.ts";
export { fields, table } from "./terminal/table.ts";
export { readings } from "./text/decodings.ts";
export {
  cleanFileName,
  isTextual,
  mimeOfName,
  sniff,
  sniffImage,
  textOfFile,
  UNKNOWN,
} from "./text/file-type.ts";
export { findOrders } from "./text/injection-patterns.ts";
export { isRecord, tryJson, tryRecord } from "./text/json.ts";
export { cutMarkdown } from "./text/markdown-cutting.ts";
export { ownWords } from "./text/own-words.ts";
export { visible, visibleJson, visibleLine, withoutHidden } from "./text/visible.ts";
export {
  capitalise,
  clipWord,
  contentStems,
  foldedWords,
  indexedWords,
  isStop,
  listing,
  sayName,
  stem,
  trimEnd,
  wordsOf,
  wordsOfName,
} from "./text/words.ts";
export { capText, escapeTags, wrapFile, wrapOutput } from "./text/wrap.ts";
export type { Alongside, AskOutcome, Caller, ModelList } from "./vocabulary/agent.ts";
export { decisionsAt, whyHeld } from "./vocabulary/approval.ts";
export { TrustedDestination } from "./vocabulary/destination.ts";
export { MAX_DOUBTS, type Piece, tell, withoutShown } from "./vocabulary/doubts.ts";
export { type ExplainedCall, ExplainedTurn, type ExplainedValue } from "./vocabulary/explained.ts";
export type { PastTurns, SpokenTurn } from "./vocabulary/extension.ts";
export { fingerprintOf } from "./vocabulary/fingerprint.ts";
export { ApprovalDecision, Doubt, distinctOrigins, Gate, Origin, Reply } from "./vocabulary/gate.ts";
export {
  CompletedJob,
  Integration,
  type Integrations,
  Job,
  JobDetails,
  JobRecord,
  JobStatus,
  JobSubmission,
  type JobTurn,
  type NewIntegration,
} from "./vocabulary/job.ts";
export type {
  FinishReason,
  InputKind,
  Model,
  ModelAttachment,
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelTool,
  RenderedMessage,
} from "./vocabulary/language-model.ts";
export { McpServerInfo, type McpServers, McpTool, NewMcpServer, SeenTool } from "./vocabulary/mcp.ts";
export type { McpOffer, McpOffers, McpRequest, McpWords } from "./vocabulary/mcp-offers.ts";
export { MemoryEntry, MemoryFile, MemoryHit, MemoryVersion, MemoryWriter } from "./vocabulary/memory.ts";
export { type Generation, ModelName, ModelOption, WantedModel } from "./vocabulary/model.ts";
export { ModelTest } from "./vocabulary/model-check.ts";
export { badCursor, pageOf, pageSize, readNumber } from "./vocabulary/page.ts";
export { invalidParams, judgeParams, type ParamsVerdict } from "./vocabulary/params.ts";
export {
  type Field,
  type FieldValue,
  fieldsOf,
  mistakeIn,
  mistakeInReplies,
  refuseQuestions,
} from "./vocabulary/questions.ts";
export {
  type NewRoutine,
  RefusedCall,
  Routine,
  RoutineBudget,
  type RoutineChange,
  RoutineFields,
  RoutinePreview,
  RoutineRun,
} from "./vocabulary/routine.ts";
export type {
  AgingRows,
  Changes,
  Keyring,
  LimiterOptions,
  LimitVerdict,
  LimitWindow,
  Migration,
  Migrations,
  Node,
  NodeInfo,
  OpenLimiter,
  OwnedTables,
  PrunedRows,
  PruneOptions,
  SealedPlace,
  SignalListener,
  Signals,
  SqlValue,
  Store,
  StoreHealth,
} from "./vocabulary/store.ts";
export { defineTables } from "./vocabulary/tables.ts";
export {
  type Attributes,
  type CallTrace,
  type Labels,
  type Metrics,
  SILENT,
  SILENT_TRACER,
  type Span,
  type SpanOptions,
  type Telemetry,
  type Tracer,
} from "./vocabulary/telemetry.ts";
export {
  type ExportedThread,
  type ExportFormat,
  ThreadSummary,
  type TurnPage,
  TurnVersions,
} from "./vocabulary/thread.ts";
export { expiresSoon, scopeInWords, whenInWords } from "./vocabulary/token-words.ts";
export { clipTokens, estimateTokens, estimateTools } from "./vocabulary/tokens.ts";
export {
  ListedTool,
  type SignInBrowser,
  type ToolAdmin,
  ToolFinding,
  ToolLimits,
  ToolProposal,
  ToolSetup,
  type ToolUpload,
} from "./vocabulary/tool-admin.ts";
export { Attachment, readsAsText } from "./vocabulary/tool-call.ts";
export { isAgentsName, ROUTINE_PROPOSE, reservedPrefix, TOOL_SEARCH } from "./vocabulary/tool-names.ts";
export { ToolOrigin } from "./vocabulary/tool-origin.ts";
export {
  type CallOptions,
  type Extras,
  type QuestionOutcome,
  ToolInfo,
  ToolReceipt,
  type Tools,
} from "./vocabulary/tools.ts";
export {
  type AttachedBytes,
  answerText,
  type Format,
  INTERRUPTED,
  Outside,
  type ToolChoice,
  TurnEvent,
  TurnRecord,
} from "./vocabulary/turn.ts";
export {
  estimateText,
  Figure,
  type FigureSource,
  Figures,
  type FiguresQuery,
  type FiguresSpan,
  NO_USAGE,
  type TokenCount,
  Usage,
  UsageBy,
  WireUsage,
} from "./vocabulary/usage.ts";
export {
  Account,
  AccountKey,
  Identity,
  isWebhookIdentity,
  NewToken,
  OPERATOR,
  PairingGate,
  SessionInfo,
  type SignedIn,
  type SignInRefusal,
  TokenInfo,
  User,
  webhookIdentity,
} from "./vocabulary/user.ts";
