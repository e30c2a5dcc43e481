/** What `postern/plugin` is for TypeScript: the contract, with the types of the services that Postern's plugins provide. */
export * from "../kernel/plugin.ts";
export type * from "./agent/services.ts";
export type * from "./home/services.ts";
export type * from "./jobs/services.ts";
export type * from "./memory/services.ts";
export type * from "./models/services.ts";
export type * from "./provenance/services.ts";
