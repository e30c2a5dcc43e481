/** Undo beside do: when what a helper opened is closed again. */
import { afterAll, onTestFinished } from "vitest";

export type Undo = () => unknown;
export type Later = (undo: Undo) => void;

/** At the end of the test, unless told otherwise. */
export const afterThisTest: Later = (undo) =>
  onTestFinished(async () => {
    await undo();
  });

/** At the end of the file, for what its tests share; called outside of them. */
export function afterThisFile(): Later {
  const undos: Undo[] = [];
  afterAll(async () => {
    for (const undo of undos.reverse()) await undo();
  });
  return (undo) => void undos.push(undo);
}
