/** Findings of `postern upgrade` about the store: its schema, its last backup, and the disk. */
import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { OwnedTables } from "../../../kernel/kit/store.ts";
import { type Env, type Finding, reason } from "../../../kernel/plugin.ts";
import { readLastBackup } from "../copy/backup.ts";
import { APPLIED, type Applied, refuseOtherSchema, stepsOf } from "../engine/migrations.ts";
import { look } from "../reading/look.ts";

/** Room for the snapshot that a migration takes, besides the store's own size. */
const SPARE_BYTES = 200 * 1024 * 1024;
const RECENT_MS = 24 * 3_600_000;

export async function examineForUpgrade(
  env: Env,
  home: string,
  tables: readonly OwnedTables[],
): Promise<readonly Finding[]> {
  const { place, shared, rows, close } = await look(env, home);
  try {
    if (place === undefined)
      return [{ name: "store", ok: true, detail: "there is none yet: nothing has to be kept" }];
    const engine = shared === undefined ? "sqlite" : "postgres";
    const stepsByOwner = new Map(
      tables.map(({ owner, migrations }) => [owner, stepsOf(migrations, engine).length]),
    );
    return [
      examineSchema(place, await rows<Applied>(APPLIED), stepsByOwner),
      examineBackup(home),
      ...examineDisk(place),
    ];
  } finally {
    await close();
  }
}

function examineSchema(
  place: string,
  applied: readonly Applied[],
  known: ReadonlyMap<string, number>,
): Finding {
  const name = "schema";
  try {
    refuseOtherSchema(applied, place);
  } catch (error) {
    return { name, ok: false, detail: reason(error) };
  }
  const newer = applied.find(
    ({ owner, number }) => Number(number) > (known.get(owner) ?? Number.POSITIVE_INFINITY),
  );
  if (newer !== undefined) {
    const detail = `${place} was written by a newer Postern (${newer.owner} is at ${newer.number}, this one knows ${known.get(newer.owner)}): upgrade, this version does not start on it`;
    return { name, ok: false, detail };
  }
  const version = applied.map(({ owner, number }) => `${owner} ${number}`).join(", ");
  const behind = applied.filter(({ owner, number }) => Number(number) < (known.get(owner) ?? 0));
  const next =
    behind.length === 0
      ? "as this version writes it"
      : "the next start brings it up to date, after a snapshot";
  return { name, ok: true, detail: `${place}: ${version}; ${next}` };
}

function examineBackup(home: string): Finding {
  const name = "backup";
  const todo = 'make one with "postern store backup <file>"';
  const last = readLastBackup(home);
  if (last === undefined) return { name, ok: false, detail: `none was made: ${todo}` };
  const { file, madeAt } = last;
  if (!existsSync(file)) return { name, ok: false, detail: `the last one, ${file}, is gone: ${todo}` };
  const isRecent = Date.now() - Date.parse(madeAt) < RECENT_MS;
  return { name, ok: isRecent, detail: `${file} of ${madeAt}${isRecent ? "" : `: ${todo}`}` };
}

function examineDisk(place: string): readonly Finding[] {
  const size = statSync(place, { throwIfNoEntry: false })?.size;
  if (size === undefined) return [];
  const { bavail, bsize } = statfsSync(dirname(place));
  const [free, needed] = [bavail * bsize, size + SPARE_BYTES];
  const ok = free >= needed;
  const inWords = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MB`;
  const detail = `${inWords(free)} free; the store and its snapshot need ${inWords(needed)}${ok ? "" : ": make room"}`;
  return [{ name: "disk", ok, detail }];
}
