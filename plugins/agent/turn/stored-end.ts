/** The end of a turn: it is stored first, and told then. */
import type { Log, TurnEvent, TurnRecord, Usage } from "../../../kernel/plugin.ts";
import { type Ending, unstoredEnding } from "../threads/end.ts";
import type { UnsavedEnds } from "../threads/writing/unsaved-ends.ts";
import type { TurnWriter } from "../threads/writing/writer.ts";

export interface StoredEnd {
  readonly ending: Ending;
  readonly record: TurnRecord;
  /** The node of the turn that waits for this one. */
  readonly next: string | undefined;
}

/** An end that cannot be stored now is tried again in the background. */
export async function storeEnd(
  writer: TurnWriter,
  ending: Ending,
  usage: Usage,
  { unsaved, log }: { readonly unsaved: UnsavedEnds; readonly log: Log },
): Promise<StoredEnd> {
  try {
    const next = await writer.finish(ending, usage);
    return { ending, record: writer.record(), next };
  } catch (error) {
    log.error({ error, turn: writer.id, thread: writer.thread }, "a turn could not be stored, retrying");
    const unstored = ending.error === undefined ? unstoredEnding(error) : ending;
    // A commit may have been made although its answer was lost.
    const wasStored = await unsaved.keepTrying(writer, unstored, usage);
    if (!wasStored) writer.assume(unstored, usage);
    return { ending: wasStored ? ending : unstored, record: writer.record(), next: undefined };
  }
}

export function* endEvents({ ending, record }: StoredEnd, usage: Usage): Iterable<TurnEvent> {
  if (record.gate !== undefined) yield { type: "gate", gate: record.gate };
  if (usage.inputTokens + usage.outputTokens > 0) yield { type: "usage", usage: record.usage };
  if (ending.status === "failed") {
    const { code, message } = ending.error ?? { code: "failed", message: "The turn failed." };
    yield { type: "failed", code, message, record };
  } else yield { type: "done", status: ending.status, record };
}
