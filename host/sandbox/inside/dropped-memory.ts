/** The most that may lie dropped in a thread, so that small things do not cost a collection each. */
const MAX_DROPPED_BYTES = 16 << 20;

let droppedBytes = 0;

/**
 * Says that so much memory outside of the engine's heap is no longer used. The engine would let it lie for long: to the
 * service it would count as the tool's, and end a later call.
 */
export async function freeDropped(bytes: number): Promise<void> {
  droppedBytes += bytes;
  if (droppedBytes < MAX_DROPPED_BYTES) return;
  droppedBytes = 0;
  // Not at once: a collection keeps all that it finds on the stack, which is what was just dropped.
  await gc?.({ execution: "async", type: "major" });
}
