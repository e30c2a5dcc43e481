/** The log, and telemetry when it is off. */

export { createLog, LOG_LEVELS, type Log } from "../log/log.ts";
export { matcherOf } from "../log/query.ts";
export { SILENT } from "../silent-telemetry.ts";
