/** Starts plugins in order, rolls back a start that failed, stops in exact reverse. Knows no channel and no tool. */

import { within } from "./deadline.ts";
import { Fault, reason } from "./fault.ts";
import type { RootLog } from "./log/log.ts";
import type { Mask } from "./mask/mask.ts";
import { closure, startOrder } from "./order.ts";
import {
  type AnyPlugin,
  type Clock,
  type Kernel,
  Off,
  type PluginState,
  type Resume,
  type ServiceName,
  type Services,
} from "./plugin.ts";
import { createReadiness } from "./readiness.ts";
import type { Settings } from "./settings/env.ts";
import { changeable, type LiveReader, liveReaders } from "./settings/live.ts";
import type { OwnedTables } from "./vocabulary/store.ts";

export interface BootOptions {
  readonly plugins: readonly AnyPlugin[];
  readonly settings: Settings;
  readonly home: string;
  readonly log: RootLog;
  readonly mask: Mask;
  readonly version: string;
  /** Starts only what these services take; everything otherwise. */
  readonly only?: readonly ServiceName[];
  readonly stays?: boolean;
  /** False for a terminal that joins a service elsewhere. */
  readonly serving?: boolean;
  readonly resume?: Resume | undefined;
  readonly onShutdown?: () => void;
  readonly startMillis?: number;
  readonly stopMillis?: number;
  readonly clock?: Clock;
}

const MACHINE_CLOCK: Clock = {
  now: () => Date.now(),
  every(millis, work) {
    const timer = setInterval(work, millis).unref();
    return () => clearInterval(timer);
  },
};

export type Running = Awaited<ReturnType<typeof boot>>;

const START_MS = 30_000;
const STOP_MS = 10_000;
// Part of the time for stopping, in equal slices, so that one stuck undo leaves time for the others.
const RESERVED_FOR_LATER = 0.25;

interface Undo {
  readonly plugin: string;
  readonly run: () => void | Promise<void>;
}

export async function boot(options: BootOptions) {
  const { settings, home, log, mask, version, startMillis = START_MS, stopMillis = STOP_MS } = options;
  const chosen = options.only ? closure(options.plugins, options.only) : options.plugins;
  const ordered = startOrder(chosen);
  const readers = liveReaders(options.plugins);
  const configs = configureAll(ordered, settings, readers);
  const whyOff = decideOff(ordered, configs);

  const undos: Undo[] = [];
  const drains: Undo["run"][] = [];
  const lines: string[] = [];
  const services = new Map<string, unknown>();
  const details = new Map<string, string | Off>(whyOff);
  const readiness = createReadiness(log);
  readiness.hold("the service is starting");
  let isStarted = false;
  // In the order in which the composition lists them, which is the order people know.
  const states = (): readonly PluginState[] =>
    chosen.map(({ name, kind }) => {
      const detail = details.get(name) ?? "";
      return detail instanceof Off
        ? { name, kind, on: false, detail: detail.why }
        : { name, kind, on: true, detail };
    });
  const kernel: Kernel = {
    version,
    startedAt: new Date(),
    mask,
    clock: options.clock ?? MACHINE_CLOCK,
    serving: options.serving ?? options.only === undefined,
    stays: options.stays ?? options.only === undefined,
    resume: options.resume,
    settings: { given: settings, readers },
    plugins: states,
    tables: () => tablesOf(options.plugins),
    lines: () => lines,
    readiness: readiness.run,
    get isStarted() {
      return isStarted;
    },
    recentLog: log.recent,
    countLog: log.count,
    shutdown: options.onShutdown ?? (() => {}),
  };
  services.set("kernel", kernel);

  const unwind = async (): Promise<readonly string[]> => {
    const failed: string[] = [];
    const deadline = Date.now() + stopMillis;
    const slice = (stopMillis * RESERVED_FOR_LATER) / undos.length;
    for (let undo = undos.pop(); undo; undo = undos.pop()) {
      const millis = Math.max(1, Math.round(deadline - Date.now() - slice * undos.length));
      try {
        await within(millis, `not finished after ${millis / 1000} s`, undo.run);
      } catch (error) {
        failed.push(undo.plugin);
        log.error(
          { plugin: undo.plugin, error },
          `plugin "${undo.plugin}" did not stop cleanly: ${reason(error)}`,
        );
      }
    }
    return failed;
  };

  for (const plugin of ordered) {
    if (whyOff.has(plugin.name)) continue;
    const giveUp = new AbortController();
    const context = {
      config: configs.get(plugin.name),
      use: Object.fromEntries(
        [...(plugin.needs ?? []), ...(plugin.wants ?? [])].map((name) => [name, services.get(name)]),
      ),
      log: log.child(plugin.name),
      home,
      signal: giveUp.signal,
      onStop: (run: Undo["run"]) => {
        // A start that was given up must not leave open what it opens later.
        if (giveUp.signal.aborted)
          void Promise.resolve()
            .then(run)
            .catch((error) => log.error({ error }, "undo after an abandoned start failed"));
        else undos.push({ plugin: plugin.name, run });
      },
      onDrain: (run: Undo["run"]) => void drains.push(run),
      check: readiness.add,
      announce: (detail: string | Off) => void details.set(plugin.name, detail),
      tell: (line: string) => void lines.push(line),
    };
    try {
      const provided = await within(startMillis, `it did not finish within ${startMillis / 1000} s`, () =>
        plugin.start(context),
      );
      for (const service of plugin.provides ?? []) {
        const value = (provided as Record<string, unknown> | undefined)?.[service];
        if (value === undefined)
          throw new Error(`start() did not return the service "${service}" it provides`);
        services.set(service, value);
      }
    } catch (error) {
      giveUp.abort();
      await unwind();
      throw startFault(plugin.name, error);
    }
  }

  isStarted = true;
  readiness.hold();

  let draining: Promise<unknown> | undefined;
  const drainAll = (): Promise<unknown> => {
    readiness.hold("the service is stopping");
    draining ??= Promise.allSettled(drains.map(async (run) => run()));
    return draining;
  };

  let stopping: Promise<readonly string[]> | undefined;
  return {
    lines,
    get states(): readonly PluginState[] {
      return states();
    },
    find: <Name extends ServiceName>(name: Name) => services.get(name) as Services[Name] | undefined,
    service: <Name extends ServiceName>(name: Name): Services[Name] => {
      const found = services.get(name);
      if (found === undefined) {
        const provider = chosen.find(({ provides }) => provides?.includes(name));
        const why = provider
          ? `plugin "${provider.name}" is off: ${whyOff.get(provider.name)?.why}`
          : "no plugin provides it";
        throw new Fault("unavailable", "service_off", `"${name}" is not available: ${why}`);
      }
      return found as Services[Name];
    },
    /** Takes no new work, is not ready from here on, and waits at most so long. Returns whether everything has ended. */
    async drain(millis: number): Promise<boolean> {
      try {
        await within(millis, "", () => drainAll());
        return true;
      } catch {
        return false;
      }
    },
    /** Runs every undo, last-in first-out, each with its share of the deadline. Returns the names of plugins that failed to stop. */
    stop: (): Promise<readonly string[]> => {
      stopping ??= unwind();
      return stopping;
    },
  };
}

export async function tablesOf(plugins: readonly AnyPlugin[]): Promise<readonly OwnedTables[]> {
  return (await Promise.all(plugins.map(({ operations }) => operations?.tables?.() ?? []))).flat();
}

/** Configures every plugin before reporting problems, so that the operator sees all of them. */
function configureAll(
  plugins: readonly AnyPlugin[],
  settings: Settings,
  readers: readonly LiveReader[],
): ReadonlyMap<string, unknown> {
  const configs = new Map<string, unknown>();
  for (const plugin of plugins) {
    try {
      configs.set(plugin.name, plugin.configure(settings.for(plugin.name)));
    } catch (error) {
      settings.problems.push({
        name: `plugin "${plugin.name}"`,
        given: `an error: ${reason(error)}`,
        accepted: "settings it can read",
      });
    }
  }
  const stored = changeable(settings, readers);
  // Missing values may be stored, and whoever follows them looks again.
  settings.assertSound(({ name, isMissing }) => isMissing === true && stored.has(name));
  return configs;
}

/** A plugin is off because it says so, or because a service it needs is off. */
function decideOff(
  ordered: readonly AnyPlugin[],
  configs: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, Off> {
  const why = new Map<string, Off>();
  for (const plugin of ordered) {
    const config = configs.get(plugin.name);
    const lacking = ordered.find(
      (other) => why.has(other.name) && other.provides?.some((service) => plugin.needs?.includes(service)),
    );
    if (config instanceof Off) why.set(plugin.name, config);
    else if (lacking) why.set(plugin.name, new Off(`needs ${lacking.name}, which is off`));
  }
  return why;
}

function startFault(plugin: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  return new Fault("unavailable", "start_failed", `plugin "${plugin}" failed to start: ${reason(error)}`, {
    cause: error,
  });
}
