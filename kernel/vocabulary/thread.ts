/** A conversation: as lists show it, as it is exported, and what can be done with it. */

import { type Declared, named, nullable } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";
import { Gate } from "./gate.ts";
import { ModelName, type WantedModel } from "./model.ts";
import type { Page } from "./page.ts";
import type { TurnRecord } from "./turn.ts";
import type { TokenScope } from "./user.ts";

export const ThreadSummary = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    createdAt: Time,
    updatedAt: Time,
    turns: Type.Integer(),
    pinned: Type.Boolean(),
    model: nullable(ModelName),
    gate: Type.Optional(Gate),
  },
  { $id: "Thread" },
);
export type ThreadSummary = Declared<typeof ThreadSummary>;

/** Turns that go on from the same one: a message that was edited, an answer that was asked for again. */
export const TurnVersions = Type.Object(
  {
    turn: named("turn_id", Type.String({ description: "The one on this path" })),
    versions: Type.Array(
      Type.Object({
        id: Type.String(),
        message: Type.Integer({ description: "Versions with the same number have the same message" }),
      }),
      { description: "Oldest first, the turn itself included" },
    ),
  },
  { $id: "TurnVersions" },
);
export type TurnVersions = Declared<typeof TurnVersions>;

export type ExportFormat = "markdown" | "json";

export interface ExportedThread {
  /** Of the file to keep it in, made from the title. */
  readonly name: string;
  readonly mime: string;
  /** In pieces, since it may be long: each is read from the store when it is asked for. */
  readonly text: AsyncIterable<string>;
}

export interface TurnPage extends Page<TurnRecord> {
  /** Of a path: the turns that have others beside them. */
  readonly versions: readonly TurnVersions[];
}

export interface Threads {
  list(
    user: string,
    query?: {
      readonly q?: string;
      readonly limit?: number;
      readonly before?: string;
      /** Otherwise only the time of the last change counts. */
      readonly pinnedFirst?: boolean;
    },
  ): Promise<Page<ThreadSummary>>;
  find(user: string, thread: string): Promise<ThreadSummary | undefined>;
  /** All turns, or with `through` those of one path: to this turn and on to the newest after it; "newest" is the newest of all. */
  turns(
    user: string,
    thread: string,
    query?: { readonly limit?: number; readonly before?: string; readonly through?: string },
  ): Promise<TurnPage>;
  turn(user: string, turn: string): Promise<TurnRecord | undefined>;
  /** What came with a message or an output, by the id that it is named by there. */
  attachment(
    user: string,
    id: string,
  ): Promise<
    { readonly mime: string; readonly name: string | undefined; readonly data: Uint8Array } | undefined
  >;
  /**
   * The thread as one text. Without `through`, which is as for `turns`, Markdown is the path to the newest turn, and JSON all
   * that there is. A fault where the user has no such thread.
   */
  export(user: string, thread: string, format: ExportFormat, through?: string): Promise<ExportedThread>;
  rename(user: string, thread: string, title: string): Promise<void>;
  pin(user: string, thread: string, pinned: boolean): Promise<void>;
  /**
   * What answers on this thread from now on, on every node; undefined is the configured model. Rejects with a `Fault` where it
   * is not among `agent.models(scope)`.
   */
  setModel(user: string, thread: string, model: WantedModel | undefined, scope?: TokenScope): Promise<void>;
  remove(user: string, thread: string): Promise<void>;
}
