/** A tool of the agent itself (memory, skills, missions): trusted code, so it needs no sandbox. */
import type { JsonSchema, Origin, ToolOutcome } from "../../plugin.ts";

export interface OwnTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** Sentences for the person to agree to before each call, where it does something that lasts beyond the conversation. */
  asks?(params: unknown): readonly string[];
  /** True: it asks even where the operator allows the tool, and is not there where nobody can be asked. */
  readonly needsPerson?: boolean;
  /** Why the call cannot be made, before anybody is asked. */
  refuse?(params: unknown, context: OwnToolContext): ToolOutcome | undefined;
  run(params: unknown, context: OwnToolContext): Promise<OwnOutcome>;
}

/** `origins`: whose words the output is, where they are not the person's. */
export type OwnOutcome = ToolOutcome & { readonly origins?: readonly Origin[] };

export interface OwnToolContext {
  readonly user: string;
  readonly thread: string;
  readonly turn?: string;
  /** Where the turn came from. */
  readonly channel?: string;
  /** Nobody is there to be asked. */
  readonly unattended?: boolean;
  /** The token behind the turn may not use everything. */
  readonly isScoped?: boolean;
  /** Makes these tools required for the rest of the turn: it fails where the last call of one of them did. */
  require?(tools: readonly string[]): void;
  /** Whose words a text of the model may be made of; none where it is the person's own. */
  originsOf?(text: string, name?: string): Promise<readonly Origin[]>;
}
