/** `postern doctor`: checks everything a start needs and says what to do. */
import { realpathSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { isClaimed } from "../../files/claim.ts";
import { assertMakeable } from "../../files/folders.ts";
import { findForeign, pathsOfHome } from "../../files/ownership.ts";
import { MANIFEST } from "../../package.ts";
import { type AnyPlugin, type CommandContext, type Finding, Off, reason } from "../../plugin.ts";
import { liveReaders } from "../../settings/live.ts";
import { asTyped, say, sayJson, sayPainted } from "../../terminal/output.ts";
import { type Colour, type TableOptions, table } from "../../terminal/table.ts";
import type { JsonOption } from "../../terminal/verb.ts";
import { givenPort, PORT_ABOUT, type PortOption, parsePort } from "../option-values.ts";
import { findRunning } from "../service/home.ts";
import type { Session } from "../service/session.ts";
import type { OperatorContext, StoreAccess } from "./context.ts";
import { applyFixes, type FixOptions, type FixResult, fixesInWords } from "./doctor-fix.ts";
import { examineFixable } from "./home-fixes.ts";

export function register(command: Command, context: OperatorContext): void {
  command
    .option("--port <port>", PORT_ABOUT, parsePort)
    .option("--fix", "fix what can be fixed safely; nothing that a person wrote is deleted")
    .option("--dry-run", "with --fix: only list what would be done")
    .option("--yes", "with --fix: also what signs people out or puts something of yours aside")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  $ postern doctor\n  $ postern doctor --port 4000\n  $ postern doctor --fix --dry-run",
    )
    .action(async ({ port, json = false, ...options }: JsonOption & PortOption & FixOptions) => {
      const session = await context.open({ given: givenPort(port) });
      const [plugins, store] = await Promise.all([context.allPlugins(session), context.store()]);
      const own = await context.contextOf(session, async () => plugins);
      const findings = await examine(session, plugins, store, own.tables);
      if (!options.fix) return printFindings(findings, json);
      const fixes = await applyFixes(findings, options, own);
      // Settings remember their problems, so they are read anew.
      const again = options.dryRun
        ? findings
        : await examine(await context.open({ given: givenPort(port) }), plugins, store, own.tables);
      printFindings(again, json, fixes);
    });
}

const MIB = 2 ** 20;
const ENOUGH_DISK = 200 * MIB;

async function examine(
  session: Session,
  plugins: readonly AnyPlugin[],
  store: StoreAccess,
  tables: CommandContext["tables"],
): Promise<readonly Finding[]> {
  const { home } = session;
  const findings: Finding[] = [attempt("runtime", examineRuntime)];
  findings.push(...examineFixable(home));
  findings.push(attempt("home", () => examineHome(home)));
  const service: { notice?: ReturnType<typeof findRunning>; isStarting?: boolean } = {};
  findings.push(
    attempt("service", () => {
      service.notice = findRunning(home);
      if (service.notice) return `running, pid ${service.notice.pid}`;
      service.isStarting = isClaimed(home);
      return service.isStarting ? "starting" : "not running";
    }),
  );
  const { settings, ignored } = await store.peekSettings(session.settings, home, liveReaders(plugins));
  // On a copy: what is wrong with the store's settings is found when its plugin is configured.
  const look = await store.look(session.settings.over(new Map()).for("store"), home);
  // Together: one hashes files, another asks a server, most load code.
  const diagnoses = plugins.map(async (plugin): Promise<readonly Finding[]> => {
    const before = settings.problems.length;
    try {
      const config = plugin.configure(settings.for(plugin.name));
      if (settings.problems.length > before || config instanceof Off) return [];
      const announced = service.notice?.plugins.find(({ name, on }) => on && name === plugin.name)?.detail;
      // It opens its ports before it has started.
      const running = service.isStarting ? "" : announced;
      const context = { config, home, running, shared: look.shared, stored: look, tables };
      return (await plugin.operations?.diagnose?.(context)) ?? [];
    } catch (error) {
      return [{ name: plugin.name, ok: false, detail: reason(error) }];
    }
  });
  findings.push(...(await Promise.all(diagnoses)).flat());
  await look.close();
  const declared = [...session.settings.declared, ...settings.declared].map(({ name }) => name);
  for (const [name, meant] of session.misspelled(declared))
    findings.push({ name, ok: true, warning: true, detail: `is not a setting: did you mean ${meant}?` });
  for (const [name, why] of ignored)
    findings.push({ name, ok: true, warning: true, detail: `the stored value is ignored: ${why}` });
  for (const { name, given, accepted } of [...session.settings.problems, ...settings.problems]) {
    findings.push({ name, ok: false, detail: `got ${given}, expected ${accepted}` });
  }
  return findings;
}

function printFindings(findings: readonly Finding[], json: boolean, fixes?: readonly FixResult[]): void {
  const healthy = findings.every(({ ok }) => ok);
  process.exitCode = healthy ? 0 : 1;
  const plain = findings.map(({ fix, ...finding }) => ({ ...finding, ...(fix && { fix: fix.about }) }));
  if (json) sayJson({ ok: healthy, findings: plain, ...(fixes && { fixes }) });
  else {
    if (fixes) say(fixesInWords(fixes));
    const rows = findings.map((finding) => [verdictOf(finding), finding.name, finding.detail]);
    sayPainted(asTyped(table(["RESULT", "CHECK", "DETAIL"], rows, { indent: "  ", colours: COLOURS })));
    const fixable = findings.filter(({ fix }) => fix !== undefined).length;
    if (fixable > 0 && !fixes) say(`  postern doctor --fix can fix ${fixable} of these.\n`);
  }
}

const VERDICTS: Readonly<Record<string, Colour>> = { FAIL: "red", warn: "yellow", ok: "green" };
const COLOURS: TableOptions["colours"] = { RESULT: (verdict) => VERDICTS[verdict] };

function verdictOf({ ok, warning }: Finding): string {
  if (!ok) return "FAIL";
  return warning ? "warn" : "ok";
}

function attempt(name: string, look: () => string): Finding {
  try {
    return { name, ok: true, detail: look() };
  } catch (error) {
    return { name, ok: false, detail: reason(error) };
  }
}

/** Says whether it is the Node that comes with Postern or the system's. */
function examineRuntime(): string {
  const node = realpathSync(process.execPath);
  const name = Object.keys(MANIFEST.optionalDependencies).find((name) =>
    node.includes(join("/node_modules", name, "/")),
  );
  const origin = name === undefined ? `from this system: ${node}` : `from the package ${name}`;
  return `Node ${process.versions.node}, ${origin}`;
}

function examineHome(home: string): string {
  const stat = statSync(home, { throwIfNoEntry: false });
  if (!stat) {
    try {
      assertMakeable(home);
    } catch (error) {
      throw new Error(`${home} cannot be created (${reason(error)}): set POSTERN_HOME to another path`);
    }
    return `${home} does not exist yet; the first start creates it`;
  }
  if (!stat.isDirectory())
    throw new Error(`${home} is not a folder: move it, or set POSTERN_HOME to another path`);
  const [foreign] = findForeign(pathsOfHome(home));
  if (foreign !== undefined) throw new Error(`${foreign}: change its owner`);
  const { bavail, bsize } = statfsSync(home);
  const left = bavail * bsize;
  if (left < ENOUGH_DISK)
    throw new Error(
      `${Math.floor(left / MIB)} MB are left on the disk of ${home}, and Postern needs 200 MB: free some space, or set POSTERN_HOME to a folder on a larger disk`,
    );
  return home;
}
