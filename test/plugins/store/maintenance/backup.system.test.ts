/** Backups that the service makes, by the test's own clock. */
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { createLog } from "../../../../kernel/log/log.ts";
import { createMask } from "../../../../kernel/mask/mask.ts";
import type { Finding } from "../../../../kernel/plugin.ts";
import { Settings } from "../../../../kernel/settings/env.ts";
import { readBackupSettings, readStoreSettings } from "../../../../plugins/store/config/settings.ts";
import { readNote } from "../../../../plugins/store/copy/backup.ts";
import { examineStore } from "../../../../plugins/store/maintenance/diagnosis.ts";
import { MAINTENANCE_TABLES } from "../../../../plugins/store/maintenance/growth.ts";
import { backUpWhenDue } from "../../../../plugins/store/maintenance/scheduled-backup.ts";
import store from "../../../../plugins/store/plugin.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { describeEngines } from "../../../support/processes/engines.ts";
import { diagnosing } from "../../../support/services/diagnosis.ts";
import { bootKernel } from "../../../support/services/kernel.ts";
import { createTurnedClock, type TurnedClock } from "../../../support/services/turned-clock.ts";

/** The look before may still be under way, so that this one is left out. */
function looked(clock: TurnedClock, count: () => number): number {
  clock.look();
  return count();
}

const NEVER = new AbortController().signal;

test("a backup is written and verified when it is due, older ones go afterwards, and a failure leaves them alone", async () => {
  const clock = createTurnedClock("2026-11-16T08:00:00Z");
  const kernel = await bootKernel([store], { BACKUP_EVERY: "24h", BACKUP_KEEP: "1" }, { clock });
  const folder = join(kernel.home, "backups");
  const written = () => kernel.logged.filter((line) => line.includes("backup written and verified")).length;
  await expect.poll(written).toBe(1);
  expect(readdirSync(folder)).toEqual(["postern-20261116T080000Z.backup"]);
  expect(readNote(join(folder, "postern-20261116T080000Z.backup"))).toMatchObject({
    version: expect.any(String),
  });

  // What a process that was killed has left goes, what people put there stays.
  writeFileSync(join(folder, "postern-20261116T200000Z.backup.partial"), "half");
  writeFileSync(join(folder, "mine.backup"), "mine");
  clock.turnTo("2026-11-17T07:00:00Z");
  clock.turnTo("2026-11-17T08:00:01Z");
  await expect.poll(() => looked(clock, written)).toBe(2);
  expect(readdirSync(folder)).toEqual(["mine.backup", "postern-20261117T080001Z.backup"]);

  renameSync(folder, `${folder}-away`);
  writeFileSync(folder, "no folder");
  clock.turnTo("2026-11-18T08:00:02Z");
  const failed = () => kernel.logged.filter((line) => line.includes('"code":"backup_failed"')).length;
  await expect.poll(() => looked(clock, failed)).toBe(1);
  rmSync(folder);
  renameSync(`${folder}-away`, folder);
  expect(readdirSync(folder)).toEqual(["mine.backup", "postern-20261117T080001Z.backup"]);
  // For a database, doctor asks the database.
  if (inject("storeEngine") !== "postgres")
    expect(await diagnosed(kernel.home)).toContainEqual(
      expect.objectContaining({ name: "backups", warning: true, detail: expect.stringContaining("failed") }),
    );
});

function diagnosed(home: string): Promise<readonly Finding[]> {
  const config = readStoreSettings(new Settings({ BACKUP_EVERY: "24h" }).for("store"));
  return diagnosing(home, config, examineStore);
}

test("BACKUP_EVERY takes hours and days, and refuses what it does not know", () => {
  const read = (text: string) => {
    const settings = new Settings({ BACKUP_EVERY: text });
    return {
      every: readBackupSettings(settings.for("store")).backup?.everyMillis,
      bad: settings.problems.length,
    };
  };
  expect(read("24h")).toEqual({ every: 86_400_000, bad: 0 });
  expect(read("7d")).toEqual({ every: 7 * 86_400_000, bad: 0 });
  expect(read("off")).toEqual({ every: undefined, bad: 0 });
  for (const bad of ["0h", "91d", "24", "often", "1s"])
    expect(read(bad)).toEqual({ every: undefined, bad: 1 });
});

describeEngines("a scheduled backup", (engine, fresh) => {
  test("is begun by one node, again after a failure, and at once where its node died", async () => {
    const place = await fresh();
    const home = temporaryFolder();
    mkdirSync(join(home, "backups"));
    const lines: string[] = [];
    const log = createLog("debug", createMask(), { pretty: false, write: (line) => void lines.push(line) });
    let now = Date.parse("2026-11-16T08:00:00Z");
    const one = await place.open();
    // On SQLite there is one node.
    const other = engine === "sqlite" ? one : await place.open();
    const due = async ({ node, tables }: typeof one, signal = NEVER) =>
      backUpWhenDue(
        {
          sql: await tables("maintenance", MAINTENANCE_TABLES),
          node,
          home,
          settings: { everyMillis: 86_400_000, folder: undefined, keep: 7 },
          environment: {},
          log,
          now: () => now,
          // More than any disk has: it fails before anything is started.
          bytes: async () => 1e18,
        },
        signal,
      );
    await Promise.all([due(one), due(other)]);
    expect(lines.filter((line) => line.includes("backup_no_room"))).toHaveLength(1);
    await due(other);
    expect(lines).toHaveLength(1);
    now += 3_600_000;
    await due(other);
    expect(lines).toHaveLength(2);
    // It stops in the middle.
    now += 3_600_000;
    await due(one, AbortSignal.abort());
    await one.close();
    const later = await place.open();
    await due(later);
    expect(lines).toHaveLength(3);
    expect(readdirSync(join(home, "backups"))).toEqual([]);
  });
});
