/** A conversation: as lists show it, as it is exported, and what can be done with it. */

import { type Declared, named, nullable } from "../schema/declare.ts";
import { Time, Type } from "../schema/type.ts";
import { Gate } from "./gate.ts";
import { ModelName } from "./model.ts";
import type { Page } from "./page.ts";
import type { TurnRecord } from "./turn.ts";

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
  /** The name of the file to keep it in, made from the title. */
  readonly name: string;
  readonly mime: string;
  /** In pieces, since it may be long: each is read from the store when it is asked for. */
  readonly text: AsyncIterable<string>;
}

export interface TurnPage extends Page<TurnRecord> {
  /** The turns of a path that have other versions. */
  readonly versions: readonly TurnVersions[];
}
