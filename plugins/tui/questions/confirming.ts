/** Questions of Postern's own before something that cannot be undone, answered in the history like a gate. */
import type { Transcript } from "../transcript.ts";

export interface Confirming {
  /** `yes` names what is done. Never answered where the history is cleared first: then nothing is done. */
  confirm(question: string, yes: string): Promise<boolean>;
  /** False if that entry is no such question. */
  answer(entry: number, decision: string, label: string): boolean;
}

export function createConfirming({ add, update }: Pick<Transcript, "add" | "update">): Confirming {
  const open = new Map<number, (isAgreed: boolean) => void>();
  return {
    confirm(question, yes) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      // The last, which does nothing, is preselected.
      open.set(add({ type: "confirm", question, yes, choice: 1 }), resolve);
      return promise;
    },
    answer(entry, decision, label) {
      const resolve = open.get(entry);
      if (resolve === undefined) return false;
      open.delete(entry);
      update(entry, "confirm", (known) => ({ ...known, decided: label }));
      resolve(decision === "yes");
      return true;
    },
  };
}
