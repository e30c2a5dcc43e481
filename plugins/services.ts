/**
 * The types of `postern/plugin`: the contract. Each file below merges its services into `Services`; their further types are behind
 * `postern/services/<plugin>`.
 */

export type {} from "../host/services.ts";
export * from "../kernel/plugin.ts";
export type {} from "./accounts/plugin.ts";
export type {} from "./accounts/records/identities.ts";
export type {} from "./accounts/services.ts";
export type {} from "./agent/services.ts";
export type {} from "./delegation/services.ts";
export type {} from "./gateway/services.ts";
export type {} from "./home/services.ts";
export type {} from "./jobs/services.ts";
export type {} from "./mcp/services.ts";
export type {} from "./memory/services.ts";
export type {} from "./messaging/services.ts";
export type {} from "./models/services.ts";
export type {} from "./provenance/services.ts";
export type {} from "./store/services.ts";
export type {} from "./telemetry/services.ts";
export type {} from "./tui/services.ts";
export type {} from "./webhook/services.ts";
export type {} from "./workspace/services.ts";
