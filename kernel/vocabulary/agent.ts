/** Shared by the agent and its callers: running turns, files that messages name, callers of tools. */
import type { Gate } from "./gate.ts";
import type { ModelOption } from "./model.ts";
import type { Transaction } from "./store.ts";
import type { Attachment } from "./tool-call.ts";
import type { TurnEvent, TurnRecord } from "./turn.ts";
import type { TokenScope } from "./user.ts";

/** A running turn. Nobody has to listen: it runs, ends and is stored anyway. */
export interface RunningTurn extends AsyncIterable<TurnEvent> {
  readonly id: string;
  readonly thread: string;
  readonly record: Promise<TurnRecord>;
  cancel(): void;
}

/** Writes a channel's own rows about a turn in the transaction that opens it. Where it throws, no turn was opened. */
export type Alongside = (
  tx: Transaction,
  turn: {
    readonly id: string;
    readonly thread: string;
    /** What the thread waited for until then. */
    readonly gate: Promise<Gate | undefined>;
  },
) => Promise<void>;

export interface ModelList {
  readonly items: readonly ModelOption[];
  /** Providers whose own list could not be read: of those only what is configured is in it. */
  readonly unlisted: readonly string[];
}

/** A file that a message can name. */
export interface Upload extends Attachment {
  readonly name: string;
  /** What the model does not take of it, in words for the person. */
  readonly note?: string;
}

/** Who calls a tool without a turn. */
export interface Caller {
  readonly user: string;
  readonly channel: string;
  readonly scope?: TokenScope;
}

/** The call was not made: the person has to allow it first. */
export interface AskOutcome {
  readonly status: "ask";
  /** In words, what the tool may do. */
  readonly grants: readonly string[];
  readonly fingerprint: string;
}
