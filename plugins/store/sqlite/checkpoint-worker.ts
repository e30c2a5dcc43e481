/** Copies the log of a store into its file, once. Those who write and read meanwhile do not wait for it. */
import { DatabaseSync } from "node:sqlite";
import { workerData } from "node:worker_threads";

const connection = new DatabaseSync(workerData as string);
connection.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_checkpoint(PASSIVE)");
connection.close();
