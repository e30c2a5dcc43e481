/** A memory on a real SQLite file that the test can close and open again. */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Log } from "../../../kernel/plugin.ts";
import { IDENTITY_FILES } from "../../../plugins/home/files.ts";
import { createMemory, type OpenMemory } from "../../../plugins/memory/memory.ts";
import { memoryTools } from "../../../plugins/memory/tools/tools.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { temporaryFolder } from "../home.ts";

export const quiet: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

export async function openMemory(
  folder = temporaryFolder(),
  vectors = false,
): Promise<{ memory: OpenMemory; folder: string; close(): Promise<void> }> {
  // Nothing here is about a power cut.
  const store = openStore(join(folder, "store.sqlite"), { durability: "normal" });
  const memory = await createMemory({ store, vectors, log: quiet });
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await memory.close();
    await store.close();
  };
  onTestFinished(close);
  return { memory, folder, close };
}

/** The model's tools for a memory, as the plugin adds them. */
export const toolsOf = (memory: OpenMemory) =>
  memoryTools(memory, new Set(IDENTITY_FILES.map(({ name }) => name)));
