/** Named readiness checks, contributed by plugins, run side by side, each with a deadline. */
import { within } from "./deadline.ts";
import { Fault, reason } from "./fault.ts";
import type { CheckResult, Log } from "./plugin.ts";

const TIMEOUT_MS = 3000;

/** Throws where it is not ready. A text that it returns is a detail, and no reason against it. */
type Probe = () => unknown;

export function createReadiness(log: Log) {
  const probes = new Map<string, Probe>();
  /** Why each that is not ready is not: an answer to strangers does not say so. */
  const known = new Map<string, string>();

  function note({ name, ok, detail }: CheckResult): void {
    if (ok ? !known.has(name) : known.get(name) === detail) return;
    if (ok) {
      known.delete(name);
      log.info({ check: name }, `ready again: ${name}`);
    } else {
      known.set(name, detail);
      log.warn({ check: name }, `not ready: ${name}: ${detail}`);
    }
  }
  let held: readonly CheckResult[] = [];
  return {
    /** Says not ready for this reason, whatever the probes find, until it is called without one. */
    hold(why?: string): void {
      held = why === undefined ? [] : [{ name: "service", ok: false, detail: why, millis: 0 }];
    },
    add(name: string, probe: Probe): void {
      if (probes.has(name))
        throw new Fault("config", "duplicate_check", `two readiness checks are named "${name}"`);
      probes.set(name, probe);
    },
    async run(): Promise<readonly CheckResult[]> {
      const results = await Promise.all([...probes].map(([name, probe]) => examine(name, probe)));
      for (const result of results) note(result);
      return [...held, ...results];
    },
  };
}

async function examine(name: string, probe: Probe): Promise<CheckResult> {
  const began = performance.now();
  const millis = () => Math.round(performance.now() - began);
  try {
    const detail = await within(TIMEOUT_MS, `no answer within ${TIMEOUT_MS / 1000} s`, probe);
    return { name, ok: true, detail: typeof detail === "string" ? detail : "", millis: millis() };
  } catch (error) {
    return { name, ok: false, detail: reason(error), millis: millis() };
  }
}
