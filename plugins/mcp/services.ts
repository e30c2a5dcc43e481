/**
 * What a plugin adds to what MCP hosts see: tools, prompts and resources that it serves itself. Definitions and results are in
 * the protocol's own words (revision 2026-07-28) and are sent as they are; the channel looks after tokens, revisions, tasks
 * and what a client sends back.
 */
import type { Caller } from "../agent/services.ts";

export type McpWords = Readonly<Record<string, unknown>>;

export interface McpOffers {
  /** A tool of an offer goes before an installed one of the same name. A token with a scope has to name it. */
  readonly tools?: readonly McpOffer[];
  /** These and resources are not for tokens with a scope. */
  readonly prompts?: readonly McpOffer[];
  readonly resources?: readonly McpOffer[];
  /** Resources by a pattern, `definition.uriTemplate`. */
  readonly resourceTemplates?: readonly McpOffer[];
}

export interface McpOffer {
  /** The entry in the list of its kind: `name`, `description`, `inputSchema`, `uri` and so on. */
  readonly definition: McpWords;
  /**
   * Answers a call with a result, or with what it has to ask first: `{resultType: "input_required", inputRequests, requestState}`.
   * Then it is called again. `requestState` may be any JSON; the client cannot change it. Nobody has checked the arguments.
   */
  answer(params: McpWords, request: McpRequest): Promise<McpWords>;
  /** Completes an argument of a prompt or a template that begins like this. */
  complete?(argument: string, value: string): Promise<readonly string[]>;
}

export interface McpRequest {
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** The client's declared capabilities. */
  readonly capabilities: McpWords;
  /** By the keys of `inputRequests`; from the client, and unchecked. Absent where nothing has been asked yet. */
  readonly inputResponses?: McpWords;
  readonly requestState?: unknown;
  /** Told to a client that wants to know. */
  progress(done: number, total?: number): Promise<void>;
  log(level: "debug" | "info" | "warning" | "error", text: string): Promise<void>;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    /** No shipped plugin provides it: third parties add resources and prompts to the MCP channel with it. */
    mcpOffers: McpOffers;
  }
}
