/** Pure: which plugins run, in which order, and what is wrong with a composition. */
import { Fault } from "./fault.ts";
import type { AnyPlugin, ServiceName } from "./plugin.ts";

/** Services the kernel itself provides to everyone. */
const BUILT_IN: ReadonlySet<string> = new Set(["kernel"]);

/** Which plugin provides which service; refuses duplicates. */
function providers(plugins: readonly AnyPlugin[]): ReadonlyMap<string, AnyPlugin> {
  const byService = new Map<string, AnyPlugin>();
  const names = new Set<string>();
  for (const plugin of plugins) {
    if (names.has(plugin.name))
      throw composition("duplicate_plugin", `two plugins are named "${plugin.name}"; remove one`);
    names.add(plugin.name);
    for (const service of plugin.provides ?? []) {
      const other = byService.get(service);
      if (other || BUILT_IN.has(service)) {
        const first = other ? `plugin "${other.name}"` : "the kernel";
        throw composition(
          "duplicate_provider",
          `service "${service}" is provided by ${first} and by plugin "${plugin.name}"; remove one`,
        );
      }
      byService.set(service, plugin);
    }
  }
  return byService;
}

/** Plugins in the order in which they start: a provider comes before those that need or want it. */
export function startOrder(plugins: readonly AnyPlugin[]): readonly AnyPlugin[] {
  const byService = providers(plugins);
  const done = new Set<AnyPlugin>();
  const path: AnyPlugin[] = [];

  const visit = (plugin: AnyPlugin): void => {
    if (done.has(plugin)) return;
    if (path.includes(plugin)) {
      const cycle = [...path.slice(path.indexOf(plugin)), plugin].map(({ name }) => name).join(" → ");
      throw composition("plugin_cycle", `plugins need each other in a circle: ${cycle}`);
    }
    path.push(plugin);
    for (const service of plugin.needs ?? []) {
      const provider = byService.get(service);
      if (provider) visit(provider);
      else if (!BUILT_IN.has(service)) {
        throw composition(
          "missing_provider",
          `plugin "${plugin.name}" needs service "${service}", which no plugin provides`,
        );
      }
    }
    for (const service of plugin.wants ?? []) {
      const provider = byService.get(service);
      if (provider) visit(provider);
    }
    path.pop();
    done.add(plugin);
  };
  for (const plugin of plugins) visit(plugin);
  return [...done];
}

/** Only the plugins behind these services, with everything they need. */
export function closure(
  plugins: readonly AnyPlugin[],
  services: readonly ServiceName[],
): readonly AnyPlugin[] {
  const byService = providers(plugins);
  const kept = new Set<AnyPlugin>();
  const keep = (service: string): void => {
    const provider = byService.get(service);
    if (!provider || kept.has(provider)) return;
    kept.add(provider);
    for (const below of [...(provider.needs ?? []), ...(provider.wants ?? [])]) keep(below);
  };
  for (const service of services) keep(service);
  return plugins.filter((plugin) => kept.has(plugin));
}

function composition(code: string, message: string): Fault {
  return new Fault("config", code, message);
}
