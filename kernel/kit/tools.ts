/** Tools and their calls, as the agent, the host and channels see them. */

export { type CallWords, summarise } from "../vocabulary/call-summary.ts";
export { documentOutcome, paramsSchema, writtenFrom } from "../vocabulary/document-tools.ts";
export { Attachment, CallSummary, FileChange, readsAsText, Upload } from "../vocabulary/tool-call.ts";
export {
  isAgentsName,
  isAgentsPrefix,
  ROUTINE_PROPOSE,
  reservedPrefix,
  TOOL_PROPOSE,
  TOOL_SEARCH,
} from "../vocabulary/tool-names.ts";
export { fingerprintOf, ToolInfo, ToolOrigin } from "../vocabulary/tools.ts";
