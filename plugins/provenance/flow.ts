/** Where each value of a call came from, whether or not it is asked about. */
import { sourceOf } from "./answers/matches.ts";
import { type Leaf, leavesOf } from "./called/leaves.ts";
import { type Called, type Heard, isPersons } from "./ruling.ts";
import type { Said } from "./said.ts";

export interface Flow<Source extends Heard> {
  readonly leaf: Leaf;
  readonly from: "person" | "others" | "model";
  readonly source: Source | undefined;
}

export function flowOf<Source extends Heard>(
  called: Called,
  said: Said,
  heard: readonly Source[],
): readonly Flow<Source>[] {
  const leaves = leavesOf(called);
  const texts = leaves.flatMap(({ value }) => (typeof value === "string" ? [value] : []));
  return leaves.map((leaf) => {
    if (isPersons(leaf, said, texts)) return { leaf, from: "person", source: undefined };
    const source = sourceOf(leaf.value, heard);
    return { leaf, from: source ? "others" : "model", source };
  });
}
