/** Documents of the memory. */

export { MemoryEntry, MemoryFile, MemoryHit, MemoryVersion, MemoryWriter } from "../vocabulary/memory.ts";
