/** `postern upgrade`: how to get the next version here, and whether the store is ready for it. Changes nothing. */
import { existsSync, statfsSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { gt, valid } from "semver";
import { readLastBackup } from "../../../plugins/store/copy/last-backup.ts";
import { lookIntoStore } from "../../../plugins/store/reading/look.ts";
import { reason } from "../../fault.ts";
import { ROOT } from "../../package.ts";
import { say, sayJson } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import type { OwnedTables } from "../../vocabulary/store.ts";
import { findRunning } from "../service/home.ts";
import type { Session } from "../session.ts";

const REGISTRY = "https://registry.npmjs.org";
const REGISTRY_MILLIS = 5000;
const MAX_REPLY_CHARS = 1024 * 1024;
/** Room for the snapshot that a migration takes, besides the store's own size. */
const SPARE_BYTES = 200 * 1024 * 1024;
const RECENT_MILLIS = 24 * 3_600_000;

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

interface Installation {
  readonly how: "clone" | "npx" | "global" | "project";
  readonly folder: string;
  readonly steps: readonly string[];
}

interface Newest {
  readonly version?: string;
  readonly problem?: string;
}

export interface UpgradeOptions {
  readonly version: string;
  /** Asks the registry for the newest version. */
  readonly check: boolean;
  readonly json: boolean;
  readonly registry?: string | undefined;
}

export async function showUpgrade(
  session: Session,
  tables: readonly OwnedTables[],
  { version, check, json, registry = REGISTRY }: UpgradeOptions,
): Promise<void> {
  const installation = describeInstallation(ROOT);
  const checks = await examineStore(session, tables);
  const newest = check ? await readNewest(registry) : undefined;
  const isNewer = newest?.version !== undefined && gt(newest.version, version);
  if (checks.some(({ ok }) => !ok)) process.exitCode = 1;
  if (json) {
    const { how, folder, steps } = installation;
    sayJson({
      version,
      newest: newest?.version ?? null,
      newest_problem: newest?.problem ?? null,
      installed: how,
      folder,
      checks,
      steps,
    });
    return;
  }
  const rows = checks.map(({ name, ok, detail }) => [ok ? "ok" : "TO DO", name, detail]);
  const steps = installation.steps.map((step, at) => `  ${at + 1}. ${step}\n`).join("");
  say(
    `This is Postern ${version}, ${HOW[installation.how]} in ${installation.folder}.\n${newestInWords(newest, isNewer)}\n${table(["RESULT", "CHECK", "DETAIL"], rows, { indent: "  " })}\nTo upgrade:\n${steps}`,
  );
}

const HOW = {
  clone: "a clone",
  npx: "run by npx",
  global: "installed globally",
  project: "installed in a project",
} as const;

function newestInWords(newest: Newest | undefined, isNewer: boolean): string {
  if (newest === undefined)
    return 'To see whether there is a newer version, run "postern upgrade --check", which asks the npm registry.\n';
  if (newest.version === undefined)
    return `The newest version is not known: ${newest.problem}. Everything else was checked here.\n`;
  return isNewer
    ? `The newest is ${newest.version}: see its CHANGELOG before you upgrade.\n`
    : `The newest is ${newest.version}: there is nothing to upgrade to.\n`;
}

/** Tells the kind of installation from the folder of the package. */
export function describeInstallation(root: string): Installation {
  const before = ["postern store backup postern.backup", "postern stop"];
  const after = ["postern doctor", "postern serve"];
  if (existsSync(join(root, ".git")) || existsSync(join(root, "kernel", "cli", "main.ts")))
    return {
      how: "clone",
      folder: root,
      steps: [...before, `cd ${root} && git pull && npm install`, ...after].map((step) =>
        step.replace(/^postern/, "npx postern"),
      ),
    };
  const modules = dirname(root);
  const above = dirname(modules);
  if (basename(dirname(above)) === "_npx")
    return {
      how: "npx",
      folder: root,
      steps: [...before, "npx postern@latest doctor", "npx postern@latest serve"],
    };
  if (existsSync(join(above, "package.json")))
    return {
      how: "project",
      folder: root,
      steps: [...before, `cd ${above} && npm install postern@latest`, ...after].map((step) =>
        step.replace(/^postern/, "npx postern"),
      ),
    };
  return { how: "global", folder: root, steps: [...before, "npm install --global postern@latest", ...after] };
}

async function examineStore(session: Session, tables: readonly OwnedTables[]): Promise<readonly Check[]> {
  const { home } = session;
  const running = findRunning(home);
  const service: Check = {
    name: "service",
    ok: running === undefined,
    detail:
      running === undefined
        ? "not running"
        : `running, pid ${running.pid}: stop it before you upgrade ("postern stop")`,
  };
  const look = await lookIntoStore(session);
  try {
    if (look.place === undefined)
      return [service, { name: "store", ok: true, detail: "there is none yet: nothing has to be kept" }];
    const applied = await look.rows<{ owner: string; number: number }>(
      "SELECT owner, max(number) AS number FROM migrations GROUP BY owner",
    );
    return [
      service,
      examineSchema(look.place, applied, tables),
      examineBackup(home),
      ...examineDisk(look.place),
    ];
  } finally {
    await look.close();
  }
}

function examineSchema(
  place: string,
  applied: readonly { readonly owner: string; readonly number: number }[],
  tables: readonly OwnedTables[],
): Check {
  const known = new Map(
    tables.map(({ owner, migrations }) => [
      owner,
      ("sqlite" in migrations ? migrations.sqlite : migrations).length,
    ]),
  );
  const name = "schema";
  const newer = applied.find(
    ({ owner, number }) => Number(number) > (known.get(owner) ?? Number.POSITIVE_INFINITY),
  );
  if (newer !== undefined)
    return {
      name,
      ok: false,
      detail: `${place} was written by a newer Postern (${newer.owner} is at ${newer.number}, this one knows ${known.get(newer.owner)}): upgrade, this version does not start on it`,
    };
  const version = applied.map(({ owner, number }) => `${owner} ${number}`).join(", ");
  const behind = applied.filter(({ owner, number }) => Number(number) < (known.get(owner) ?? 0));
  const next =
    behind.length === 0
      ? "as this version writes it"
      : "the next start brings it up to date, after a snapshot";
  return { name, ok: true, detail: `${place}: ${version}; ${next}` };
}

function examineBackup(home: string): Check {
  const name = "backup";
  const todo = 'make one with "postern store backup <file>"';
  const last = readLastBackup(home);
  if (last === undefined) return { name, ok: false, detail: `none was made: ${todo}` };
  const { file, madeAt } = last;
  if (!existsSync(file)) return { name, ok: false, detail: `the last one, ${file}, is gone: ${todo}` };
  const isRecent = Date.now() - Date.parse(madeAt) < RECENT_MILLIS;
  return { name, ok: isRecent, detail: `${file} of ${madeAt}${isRecent ? "" : `: ${todo}`}` };
}

function examineDisk(place: string): readonly Check[] {
  const size = statSync(place, { throwIfNoEntry: false })?.size;
  if (size === undefined) return [];
  const { bavail, bsize } = statfsSync(dirname(place));
  const [free, needed] = [bavail * bsize, size + SPARE_BYTES];
  const inWords = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MB`;
  return [
    {
      name: "disk",
      ok: free >= needed,
      detail: `${inWords(free)} free; the store and its snapshot need ${inWords(needed)}${free >= needed ? "" : ": make room"}`,
    },
  ];
}

async function readNewest(registry: string): Promise<Newest> {
  try {
    const response = await fetch(`${registry.replace(/\/$/, "")}/postern/latest`, {
      signal: AbortSignal.timeout(REGISTRY_MILLIS),
      headers: { accept: "application/json" },
      redirect: "error",
    });
    if (!response.ok) return { problem: `${registry} answered ${response.status}` };
    const text = await response.text();
    if (text.length > MAX_REPLY_CHARS) return { problem: `${registry} answered too much` };
    const version = valid((JSON.parse(text) as { version?: string }).version);
    return version === null ? { problem: `${registry} named no version` } : { version };
  } catch (error) {
    return {
      problem: `${registry} cannot be reached (${reason(error instanceof Error && error.cause ? error.cause : error)})`,
    };
  }
}
