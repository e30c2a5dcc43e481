/** Ends of turns that could not be stored: tried again until they are. */
import type { Usage } from "../../../../kernel/plugin.ts";
import type { Ending } from "../end.ts";
import type { TurnWriter } from "./writer.ts";

const RETRY_MS = 1000;

export type UnsavedEnds = ReturnType<typeof createUnsavedEnds>;

/** `onSaved` is told of a thread whose stored turns have changed. */
export function createUnsavedEnds(onSaved: (thread: string) => void) {
  const unsaved = new Map<string, () => Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  async function saveAll(): Promise<void> {
    for (const save of unsaved.values()) {
      try {
        await save();
      } catch {
        return;
      }
    }
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /**
     * Tries at once, and then now and then: a disk that was full may have room again, a database that was away may be back. Until
     * then the turn lives in memory. True where the end was stored already, as it was first written.
     */
    async keepTrying(writer: TurnWriter, ending: Ending, usage: Usage): Promise<boolean> {
      let wasStored = false;
      const write = async (): Promise<void> => {
        wasStored = await writer.hasEnded();
        if (!wasStored) await writer.finish(ending, usage);
        unsaved.delete(writer.id);
        onSaved(writer.thread);
      };
      // One try at a time: two in one commit would index the same texts twice, and both would fail.
      let trying: Promise<void> | undefined;
      const save = (): Promise<void> => {
        trying ??= write().finally(() => (trying = undefined));
        return trying;
      };
      unsaved.set(writer.id, save);
      try {
        await save();
      } catch {
        timer ??= setInterval(saveAll, RETRY_MS).unref();
      }
      return wasStored;
    },
    /** Whether the end of this turn is still to be stored. */
    has: (turn: string) => unsaved.has(turn),
    async stop(): Promise<void> {
      clearInterval(timer);
      await saveAll();
    },
  };
}
