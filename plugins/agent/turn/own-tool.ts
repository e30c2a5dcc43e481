/** A tool of the agent itself (memory, skills, missions): trusted code, so it needs no sandbox. */
import type { JsonSchema, ToolOutcome } from "../../../kernel/plugin.ts";

export interface OwnTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** Sentences for the person to agree to before each call, where it does something that lasts beyond the conversation. */
  asks?(params: unknown): readonly string[];
  run(params: unknown, context: OwnToolContext): Promise<ToolOutcome>;
}

export interface OwnToolContext {
  readonly user: string;
  readonly thread: string;
  /** Makes these tools required for the rest of the turn: it fails where the last call of one of them did. */
  require?(tools: readonly string[]): void;
}
