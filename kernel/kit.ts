/**
 * What one builds a plugin with: requests in and out, checks, limits, lines for a terminal. `postern/plugin` says what a plugin
 * is; this is the toolbox beside it. The plugins that Postern ships, and the tool host, use these two modules of the kernel alone.
 */
export { say, sayJson, sayPainted, warn } from "./cli/output.ts";
export { MANIFEST, ROOT } from "./cli/package.ts";
export { isInteractive, readSecret } from "./cli/secret-input.ts";
export { prepareHome } from "./cli/service/home.ts";
export { fields, table } from "./cli/table.ts";
export { threadFile } from "./cli/thread-file.ts";
export { Fault, reason } from "./fault.ts";
export { LOG_LEVELS } from "./log/levels.ts";
export { createLog, type Log } from "./log/log.ts";
export { matcherOf } from "./log/reading.ts";
export {
  type Attributes,
  type CallTrace,
  type Labels,
  type Metrics,
  SILENT,
  SILENT_TRACER,
  type Span,
  type SpanOptions,
  type Tracer,
} from "./log/telemetry.ts";
export { currentTraceparent, withTraceparent } from "./log/trace-context.ts";
export { colourCode } from "./mask/code.ts";
export { canBeHidden, encodePathValue, SHORTEST } from "./mask/forms.ts";
export { cutMarkdown } from "./mask/markup.ts";
export { createMask } from "./mask/mask.ts";
export { createHidingStream, createMatcher, type Matcher } from "./mask/matcher.ts";
export { findOrders } from "./mask/orders.ts";
export { readings } from "./mask/readings.ts";
export { visible, visibleJson, visibleLine, withoutHidden } from "./mask/visible.ts";
export {
  AddressRefused,
  hostAndPort,
  isLoopback,
  type Lookup,
  type PrivateHosts,
  parsePrivateHosts,
  resolveFor,
} from "./net/address.ts";
export { compressAnswers, type Policy, secureAnswers } from "./net/answers.ts";
export { parseJson, readBody, readJson } from "./net/body.ts";
export { createConnector } from "./net/connector.ts";
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
export { examinePort } from "./net/port-check.ts";
export { createProxies, type Proxies, readTrustedProxies } from "./net/proxies.ts";
export { applyLimit, limitWords, RATE_LIMIT_EXCEEDED, RATE_LIMIT_HEADERS } from "./net/rate-limit.ts";
export { examineSecret, showWeaknesses } from "./net/weak-secret.ts";
export { type MountedSocket, routerPath } from "./net/web.ts";
export { ChangeableSetting } from "./settings/live.ts";
export { removeInBatches, removeOld } from "./store/care/retention.ts";
export { createFigures } from "./store/figures.ts";
export { makeFolders } from "./store/files/folders.ts";
export { NO_CHANGES } from "./store/fleet/changes.ts";
export { follow } from "./store/fleet/followed.ts";
export { createLocalLocks } from "./store/fleet/locks.ts";
export type { SealingKey } from "./store/keys/keyring.ts";
export { loadKeys, readSecretsKey } from "./store/keys/secrets-key.ts";
export { createLimiter } from "./store/limits/limiter.ts";
export { createLiveLimiter } from "./store/limits/live-limiter.ts";
export { seal, unseal } from "./store/sealing.ts";
export { openStore, readKeyed, readTable } from "./store/sqlite/store.ts";
export {
  CompletedJob,
  Integration,
  Job,
  JobDetails,
  JobRecord,
  JobStatus,
  JobSubmission,
} from "./vocabulary/job.ts";
export type { Mask } from "./vocabulary/kernel.ts";
export { MemoryEntry, MemoryFile, MemoryHit, MemoryVersion, type MemoryWriter } from "./vocabulary/memory.ts";
export { ModelTest } from "./vocabulary/models/check.ts";
export { ModelName, ModelOption, WantedModel } from "./vocabulary/models/model.ts";
export { estimateText, Figures, Usage, UsageBy, WireUsage } from "./vocabulary/models/usage.ts";
export { Routine, RoutineFields, RoutinePreview, RoutineRun } from "./vocabulary/routine.ts";
export { bytesOf, type Check, compileCheck } from "./vocabulary/schema/check.ts";
export { describeMistake, type Mistake } from "./vocabulary/schema/mistake.ts";
export { invalidParams, judgeParams, type ParamsVerdict } from "./vocabulary/schema/params.ts";
export type { Limiter, LimitVerdict, Store } from "./vocabulary/store.ts";
export { ThreadSummary, TurnVersions } from "./vocabulary/thread.ts";
export {
  ListedTool,
  type SignInBrowser,
  ToolFinding,
  ToolLimits,
  ToolProposal,
  ToolSetup,
} from "./vocabulary/tools/admin.ts";
export { decisionsAt, whyHeld } from "./vocabulary/tools/approval.ts";
export { Attachment } from "./vocabulary/tools/call.ts";
export { TrustedDestination } from "./vocabulary/tools/destination.ts";
export { type Piece, tell } from "./vocabulary/tools/doubts.ts";
export { type ExplainedCall, ExplainedTurn, type ExplainedValue } from "./vocabulary/tools/explained.ts";
export { fingerprintOf } from "./vocabulary/tools/fingerprint.ts";
export { ApprovalDecision, type Doubt, Gate, type Origin, Reply } from "./vocabulary/tools/gate.ts";
export { McpServerInfo, NewMcpServer, SeenTool } from "./vocabulary/tools/mcp.ts";
export { isAgentsName, ROUTINE_PROPOSE, reservedPrefix, TOOL_SEARCH } from "./vocabulary/tools/names.ts";
export { ToolOrigin } from "./vocabulary/tools/origin.ts";
export {
  type Field,
  type FieldValue,
  fieldsOf,
  mistakeIn,
  mistakeInReplies,
  refuseQuestions,
} from "./vocabulary/tools/questions.ts";
export { ToolInfo, ToolReceipt } from "./vocabulary/tools/tools.ts";
export { JsonSchema, TurnEvent, TurnRecord } from "./vocabulary/turn.ts";
export {
  Identity,
  isWebhookIdentity,
  OPERATOR,
  PairingGate,
  User,
  webhookIdentity,
} from "./vocabulary/user.ts";
export { fromWire, toWire } from "./vocabulary/wire/convert.ts";
export {
  cleanFileName,
  isTextual,
  mimeOfName,
  sniff,
  sniffImage,
  textOfFile,
  UNKNOWN,
} from "./vocabulary/wire/file-type.ts";
export { type Declared, named, nullable } from "./vocabulary/wire/form.ts";
export { type Rendering, wireSchema } from "./vocabulary/wire/schema.ts";
export { Time, Type } from "./vocabulary/wire/type.ts";
