/** The most that may lie dropped in a thread, so that small things do not cost a collection each. */
const MAX_DROPPED_BYTES = 16 << 20;

let droppedBytes = 0;

/** Tells the engine of memory that is no longer used: left to lie, it would count as the tool's and end a later call. */
export async function freeDropped(bytes: number): Promise<void> {
  droppedBytes += bytes;
  if (droppedBytes < MAX_DROPPED_BYTES) return;
  droppedBytes = 0;
  // Not at once: a collection keeps all that it finds on the stack, which is what was just dropped.
  await gc?.({ execution: "async", type: "major" });
}
