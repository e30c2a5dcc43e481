/** `postern upgrade`: how to get the next version here, and whether the store is ready for it. Changes nothing. */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Command } from "commander";
import { gt, valid } from "semver";
import { createOutbound, OutboundError } from "../../net/outbound.ts";
import { ROOT } from "../../package.ts";
import { reason } from "../../plugin.ts";
import { say, sayJson } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import type { JsonOption } from "../../terminal/verb.ts";
import { findRunning } from "../service/home.ts";
import type { Session } from "../service/session.ts";
import type { OperatorContext, UpgradeCheck } from "./context.ts";

export function register(command: Command, context: OperatorContext): void {
  command
    .option("--check", "ask the npm registry for the newest version")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExamples:\n  $ postern upgrade\n  $ postern upgrade --check")
    .action(({ check = false, json = false }: JsonOption & { check?: boolean }) =>
      showUpgrade(context, check, json),
    );
}

const REGISTRY = "https://registry.npmjs.org";
const REGISTRY_MS = 5000;
const MAX_REPLY_BYTES = 1024 * 1024;

interface Installation {
  readonly how: "clone" | "npx" | "global" | "project";
  readonly folder: string;
  readonly steps: readonly string[];
}

interface Newest {
  readonly version?: string;
  readonly problem?: string;
}

/** `check`: asks the registry for the newest version. */
async function showUpgrade(context: OperatorContext, check: boolean, json: boolean): Promise<void> {
  const { version } = context;
  const session = await context.open();
  const installation = describeInstallation(ROOT);
  const checks = await examine(session, context);
  const registry = session.settings.for("kernel").url("NPM_CONFIG_REGISTRY") ?? REGISTRY;
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

async function examine(session: Session, context: OperatorContext): Promise<readonly UpgradeCheck[]> {
  const { settings, home } = session;
  const own = await context.contextOf(session, context.shippedPlugins);
  const [tables, store] = await Promise.all([own.tables(), context.store()]);
  const running = findRunning(home);
  const service: UpgradeCheck = {
    name: "service",
    ok: running === undefined,
    detail:
      running === undefined
        ? "not running"
        : `running, pid ${running.pid}: stop it before you upgrade ("postern stop")`,
  };
  return [service, ...(await store.examineForUpgrade(settings.for("store"), home, tables))];
}

async function readNewest(registry: string): Promise<Newest> {
  const outbound = createOutbound({ privateHosts: "any" });
  try {
    const { status, body } = await outbound.send({
      url: new URL(`${registry.replace(/\/$/, "")}/postern/latest`),
      headers: { accept: "application/json" },
      timeoutMs: REGISTRY_MS,
      maxBytes: MAX_REPLY_BYTES,
    });
    if (status < 200 || status > 299) return { problem: `${registry} answered ${status}` };
    const version = valid((JSON.parse(Buffer.from(body).toString()) as { version?: string }).version);
    return version === null ? { problem: `${registry} named no version` } : { version };
  } catch (error) {
    if (error instanceof OutboundError && error.kind === "size")
      return { problem: `${registry} answered too much` };
    return {
      problem: `${registry} cannot be reached (${reason(error instanceof Error && error.cause ? error.cause : error)})`,
    };
  } finally {
    await outbound.close();
  }
}
