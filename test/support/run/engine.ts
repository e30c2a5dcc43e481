/** Tests that run on SQLite alone, in files that also run on PostgreSQL. */
import { inject, test } from "vitest";
import type {} from "./postgres.ts";

/** Stands in for `test`: for SQLite's files, older stores and full disks, and where faked timers would also stop the pool's. */
export const testOnSqlite = (title: string, work: () => Promise<void>): void =>
  void test.skipIf(inject("storeEngine") === "postgres")(title, work);
