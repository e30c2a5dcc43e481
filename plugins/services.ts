/** What `postern/plugin` is for TypeScript: the contract, with the types of the services that Postern's plugins provide. */

// These declare their services beside the plugin itself.
export type {} from "../host/plugin.ts";
export * from "../kernel/plugin.ts";
export type {} from "./accounts/plugin.ts";
export type * from "./agent/services.ts";
export type {} from "./gateway/plugin.ts";
export type * from "./home/services.ts";
export type * from "./jobs/services.ts";
export type * from "./memory/services.ts";
export type * from "./models/services.ts";
export type * from "./provenance/services.ts";
export type {} from "./store/plugin.ts";
export type {} from "./telemetry/plugin.ts";
export type {} from "./webhook/plugin.ts";
