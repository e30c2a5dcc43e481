/**
 * Copies the log into the store's file when it has grown. A thread does most of it, because it waits for the disk: 32 MB take
 * a tenth of a second at best, and nobody could be answered meanwhile.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { moduleFile } from "../../../kernel/kit.ts";
import type { Connection } from "./connection.ts";

/** 32 MB. Copying more often costs a turn more. */
const MOST_PAGES = 8000;
const WORKER = moduleFile("plugins/store/sqlite/checkpoint-worker");

export function createCheckpoints(file: string, writer: Connection, worker = WORKER) {
  let copying: Promise<void> | undefined;
  let isLittleLeft = false;
  // How long the log was when it was last copied: a disk that is full is not asked again after each commit.
  let before = 0;

  async function copy(): Promise<void> {
    try {
      await once(new Worker(worker, { workerData: file, env: {}, execArgv: [] }), "exit");
    } catch {
      // Then there is more left.
    }
    copying = undefined;
    isLittleLeft = true;
  }

  /** The pages in the log. A disk that fails or is full is for those to tell who write: what is not copied stays in the log. */
  function measure(kind: "PASSIVE" | "NOOP"): number {
    try {
      return writer.get<{ log: number }>(`PRAGMA wal_checkpoint(${kind})`, [])?.log ?? 0;
    } catch {
      return 0;
    }
  }

  return {
    /** After each commit, while no transaction is open. */
    look(): void {
      if (copying !== undefined) return;
      // With what was committed meanwhile it is all copied, and the log begins anew.
      const pages = isLittleLeft ? measure("PASSIVE") : measure("NOOP");
      isLittleLeft = false;
      if (pages < before) before = 0;
      if (pages - before < MOST_PAGES) return;
      before = pages;
      copying = copy();
    },
    close: async () => await copying,
  };
}
