/**
 * What one builds a plugin with: requests in and out, checks, limits, lines for a terminal. `postern/plugin` says what a plugin
 * is; this is the toolbox beside it. The plugins that Postern ships, and the tool host, use these two modules of the kernel alone.
 */

export { givenPort, PORT_ABOUT, type PortOption, parsePort } from "./cli/option-values.ts";
export type { CommandLine, OperatorCommand } from "./cli/program.ts";
export { claimFile, findRunning, isClaimed, type Notice, prepareHome } from "./cli/service/home.ts";
export type { Session } from "./cli/service/session.ts";
export * from "./crypto/sealing.ts";
export { Fault, type FaultKind, reason } from "./fault.ts";
export { assertMakeable, makeFolders } from "./files/folders.ts";
export { findForeign, findLoose, makePrivate, pathsOfHome } from "./files/ownership.ts";
export { logFiles } from "./log/file.ts";
export { createLog, LOG_LEVELS, type Log, type LogLevel, prettyLines } from "./log/log.ts";
export { type LogQuery, matcherOf } from "./log/query.ts";
export { currentTraceparent, withTraceparent } from "./log/trace-context.ts";
export { type Automaton, createAutomaton, startCursor } from "./mask/automaton.ts";
export { canBeHidden, encodePathValue, SHORTEST } from "./mask/forms.ts";
export { createMask, type Mask } from "./mask/mask.ts";
export { createHidingStream, createMatcher, type Matcher } from "./mask/matcher.ts";
export { hideShapes, KEY_START, openEnd, redact } from "./mask/redact.ts";
export { createMutex, oneAtATime } from "./mutex.ts";
export {
  AddressRefused,
  hostAndPort,
  isLoopback,
  type Lookup,
  localKind,
  type PrivateHosts,
  parsePrivateHosts,
  resolveFor,
} from "./net/address.ts";
export { assertSimple, parseJson, parseLargeJson, readBody } from "./net/body.ts";
export * from "./net/findings.ts";
export { createFormReader, type FormReader } from "./net/form.ts";
export * from "./net/http-fault.ts";
export { type Listener, listen } from "./net/listen.ts";
export * from "./net/outbound.ts";
export { createProxies, type Proxies, readTrustedProxies } from "./net/proxies.ts";
export { applyLimit, limitWords, RATE_LIMIT_EXCEEDED, RATE_LIMIT_HEADERS } from "./net/rate-limit.ts";
export { type Policy, secureAnswers } from "./net/response-headers.ts";
export * from "./net/routes.ts";
export { MANIFEST, moduleFile, ROOT } from "./package.ts";
export { bytesOf, type Check, compileCheck } from "./schema/check.ts";
export { type Declared, JsonSchema, maybe, named, nullable } from "./schema/declare.ts";
export { describeMistake, type Mistake } from "./schema/mistake.ts";
export { Time, Type } from "./schema/type.ts";
export { fromWire, toWire } from "./schema/wire-convert.ts";
export { type Rendering, wireSchema } from "./schema/wire-schema.ts";
export { type Problem, type Setting, Settings, type StoredValue, type StoredValues } from "./settings/env.ts";
export { changeable, type LiveReader, liveReaders, readAll } from "./settings/live.ts";
export { SILENT } from "./silent-telemetry.ts";
export { openStatusLine, say, sayJson, sayPainted, sayText, typedCommand, warn } from "./terminal/output.ts";
export { showPaged } from "./terminal/pager.ts";
export { isInteractive, readSecret } from "./terminal/secret-input.ts";
export { createShortener, findByPrefix, shortId } from "./terminal/short-id.ts";
export { type Colour, fields, pluginTable, type TableOptions, table } from "./terminal/table.ts";
export * from "./terminal/verb.ts";
export { readings } from "./text/decodings.ts";
export {
  cleanFileName,
  imageProblem,
  isTextual,
  mimeOfName,
  sniff,
  sniffImage,
  UNKNOWN,
} from "./text/file-type.ts";
export { isRecord, tryJson, tryRecord } from "./text/json.ts";
export { digestText, giveWay, isLong, LONG_LENGTH } from "./text/long.ts";
export { cutMarkdown } from "./text/markdown-cutting.ts";
export { findSimilar } from "./text/similar.ts";
export { relativeTime } from "./text/time-words.ts";
export { visible, visibleJson, visibleLine, withoutHidden } from "./text/visible.ts";
export * from "./text/words.ts";
export { capText, cautionFor, escapeTags, findOrders, ownWords, wrapOutput } from "./text/wrap.ts";
export { decisionsAt, whyHeld } from "./vocabulary/approval.ts";
export { type CodeResult, type CodeRun, readCodeRun } from "./vocabulary/code-run.ts";
export { MAX_DOUBTS, type Piece, tell } from "./vocabulary/doubts.ts";
export {
  ApprovalDecision,
  Doubt,
  distinctOrigins,
  Gate,
  Origin,
  Reply,
  TurnTask,
} from "./vocabulary/gate.ts";
export { Integration, Job, JobStatus, Task } from "./vocabulary/job.ts";
export { McpServerInfo, McpTool } from "./vocabulary/mcp.ts";
export { MemoryEntry, MemoryFile, MemoryHit, MemoryVersion, MemoryWriter } from "./vocabulary/memory.ts";
export { ChannelState, OutboxEntry, OutboxStatus, PairingRequest } from "./vocabulary/messaging.ts";
export { type Generation, ModelName } from "./vocabulary/model.ts";
export { badCursor, pageOf, pageSize, readNumber } from "./vocabulary/page.ts";
export { invalidParams, judgeParams, type ParamsVerdict } from "./vocabulary/params.ts";
export * from "./vocabulary/questions.ts";
export * from "./vocabulary/routine.ts";
export { findSources, type Source, sourcesOf } from "./vocabulary/sources.ts";
export type * from "./vocabulary/store.ts";
export { defineTables } from "./vocabulary/tables.ts";
export { expiresSoon } from "./vocabulary/token-words.ts";
export { Attachment, readsAsText } from "./vocabulary/tool-call.ts";
export {
  isAgentsName,
  ROUTINE_PROPOSE,
  reservedPrefix,
  TOOL_PROPOSE,
  TOOL_SEARCH,
} from "./vocabulary/tool-names.ts";
export { fingerprintOf, ToolInfo, ToolOrigin } from "./vocabulary/tools.ts";
export { answerText, INTERRUPTED, Outside, ThreadSummary, TurnEvent, TurnRecord } from "./vocabulary/turn.ts";
export {
  estimateText,
  Figure,
  Figures,
  NO_USAGE,
  Usage,
  UsageBy,
  UsedStorage,
  WireUsage,
} from "./vocabulary/usage.ts";
export * from "./vocabulary/user.ts";
