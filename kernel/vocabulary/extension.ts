/** What plugins add to the agent: tools of their own, sections before the conversation, checks before calls. */

import type { JsonSchema } from "../schema/declare.ts";
import type { Doubt, Gate, Origin } from "./gate.ts";
import type { ModelTool } from "./language-model.ts";
import type { Transaction } from "./store.ts";
import type { ToolCall, ToolOutcome } from "./tool-call.ts";
import type { ToolInfo, ToolReceipt } from "./tools.ts";
import type { Outside, TurnInput, TurnItem, TurnStatus } from "./turn.ts";

/** Registered with `agent.extend`. Every part is optional. */
export interface Extension {
  readonly tools?: readonly OwnTool[];
  /** Called at the beginning of each turn. `allows` tells whether the turn may use a tool. */
  preface?(user: string, allows: (tool: string) => boolean): Promise<Preface>;
  /** Called once for each turn, before its first call. */
  check?(turn: CheckedTurn): TurnCheck | Promise<TurnCheck>;
  /** The person lets later calls of this tool go to the destinations that this gate asked about. */
  trustDestinations?(user: string, gate: Extract<Gate, { type: "approval" }>): Promise<void>;
  /** The stored turns of a thread changed or went: what was read of them is outdated. */
  threadChanged?(thread: string): void;
  /** The user is gone: nothing may be started for them any more. Their turns are stopped afterwards. */
  stopUser?(user: string): Promise<void>;
  /** Deletes what is kept of a user who is gone, beside the rows of tables that are declared as personal. */
  removeUser?(user: string): Promise<void>;
  /** Gives what is kept of one user to another. */
  giveUser?(tx: Transaction, from: string, to: string): Promise<void>;
  /** The turns of nodes that are gone were closed. */
  takeOver?(): Promise<void>;
  /** The agent stops: no new turn may be started from here on. */
  stopping?(): void;
  /** Every turn has ended. */
  stopped?(): Promise<void>;
}

/** A tool that runs in our process: trusted code, so it needs no sandbox. */
export interface OwnTool {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** Sentences for the person to agree to before each call, where it does something that lasts beyond the conversation. */
  asks?(params: unknown): readonly string[];
  /** True: it asks even where the operator allows the tool, and is not there where nobody can be asked. */
  readonly needsPerson?: boolean;
  /** True: only the operator wrote what it returns, and the model is meant to follow it. */
  readonly isFollowed?: boolean;
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

export interface Preface {
  readonly sections: readonly {
    readonly text: string;
    /** True where only the operator or the user can have written it. */
    readonly isPersons?: boolean;
  }[];
  /** The turn fails where the last call of one of these did. */
  readonly requiredTools?: readonly string[];
}

/** A turn as it was spoken, as far as it tells who said what. */
export interface SpokenTurn {
  readonly input: TurnInput;
  readonly instructions?: string | undefined;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly outside?: Outside | undefined;
  /** While the turn runs, more are added. */
  readonly items: readonly TurnItem[];
  /** What it ended with waiting for. */
  readonly gate?: Gate | undefined;
  /** Text files that came with it, by the ids of the attachments. */
  readonly files: ReadonlyMap<string, string>;
}

/** A turn whose calls are looked at, while it runs or afterwards. */
export interface CheckedTurn extends SpokenTurn {
  readonly id: string;
  readonly thread: string;
  readonly user: string;
  /** Told to the model with this turn only. */
  readonly instructionsOnce?: string | undefined;
  readonly unattended: boolean;
  /** Keyed by name. */
  readonly installed: ReadonlyMap<string, ToolInfo>;
  /** Whether a tool is one of those that plugins added to the agent. */
  isOwn(tool: string): boolean;
  isFollowed(tool: string): boolean;
  /** A tool as the model reads it. */
  show(tool: ToolInfo): ModelTool;
  /** The sections before the conversation that only the operator or the user can have written. */
  persons(): Promise<readonly string[]>;
  /** Earlier turns of its branch, oldest first; with `known` only those after it, where that is still the branch. */
  past(known?: { readonly branch: string; readonly to: number }): Promise<PastTurns>;
}

export interface PastTurns {
  readonly branch: string;
  /** The number of the turn that they come after; 0 where they are all. */
  readonly after: number;
  readonly turns: readonly (SpokenTurn & { readonly seq: number; readonly status: TurnStatus })[];
}

export interface TurnCheck {
  /** Judges a call of an installed tool. A person who approved this very call is not asked again. */
  rule(call: ToolCall, tool: ToolInfo): Promise<CallRuling>;
  originsOf?: OwnToolContext["originsOf"];
}

export interface CallRuling {
  /** Why the person is asked first; none where the call may run. */
  readonly doubts: readonly Doubt[];
  /** Why the call is not made at all, unless the person has approved it before. */
  readonly refusal?: { readonly code: string; readonly message: string } | undefined;
  /** For the receipt, should it run. */
  ruling?(isApproved: boolean): NonNullable<ToolReceipt["ruling"]>;
}
