/** `postern doctor`: checks everything a start needs, changes nothing, says what to do. */
import { realpathSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { reason } from "../../fault.ts";
import { type AnyPlugin, type Finding, Off } from "../../plugin.ts";
import { assertMakeable } from "../../store/folders.ts";
import { findForeign, findLoose, pathsOfHome } from "../../store/ownership.ts";
import { lookIntoShared } from "../../store/postgres/reading.ts";
import { findRunning, type Notice } from "../home.ts";
import { say, sayJson } from "../output.ts";
import { MANIFEST } from "../package.ts";
import type { Session } from "../session.ts";
import { table } from "../table.ts";

const ENOUGH_DISK = 200 * 1024 * 1024;

export async function examine(session: Session, plugins: readonly AnyPlugin[]): Promise<readonly Finding[]> {
  const { home, settings } = session;
  const findings: Finding[] = [attempt("runtime", examineRuntime)];
  findings.push(attempt("home", () => examineHome(home)));
  const service: { notice?: Notice | undefined } = {};
  findings.push(
    attempt("service", () => {
      service.notice = findRunning(home);
      return service.notice ? `running, pid ${service.notice.pid}` : "not running";
    }),
  );
  const { shared, close } = await lookIntoShared(settings.for("store"));
  for (const plugin of plugins) {
    const before = settings.problems.length;
    try {
      const config = plugin.configure(settings.for(plugin.name));
      if (settings.problems.length > before || config instanceof Off) continue;
      const running = service.notice?.plugins.find(({ name, on }) => on && name === plugin.name)?.detail;
      findings.push(...((await plugin.diagnose?.({ config, home, running, shared })) ?? []));
    } catch (error) {
      findings.push({ name: plugin.name, ok: false, detail: reason(error) });
    }
  }
  await close();
  for (const { name, given, accepted } of settings.problems) {
    findings.push({ name, ok: false, detail: `got ${given}, expected ${accepted}` });
  }
  return findings;
}

export function printFindings(findings: readonly Finding[], json: boolean): void {
  const healthy = findings.every(({ ok }) => ok);
  process.exitCode = healthy ? 0 : 1;
  if (json) sayJson({ ok: healthy, findings });
  else say(table(findings.map((finding) => [verdictOf(finding), finding.name, finding.detail])));
}

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
  const [loose] = findLoose(pathsOfHome(home));
  if (loose !== undefined)
    throw new Error(
      `${loose} can be read or changed by others: the next start corrects it, or run "chmod go-rwx ${loose}"`,
    );
  const { bavail, bsize } = statfsSync(home);
  if (bavail * bsize < ENOUGH_DISK)
    throw new Error(`the disk of ${home} is nearly full: free at least 200 MB`);
  return home;
}
