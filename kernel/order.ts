/** Pure: which plugins run, in which order, and what is wrong with a composition. */
import { Fault } from "./fault.ts";
import { type AnyPlugin, Off, type ServiceName } from "./plugin.ts";

/** Services the kernel itself provides to everyone. */
const BUILT_IN: ReadonlySet<string> = new Set(["kernel"]);

/** Maps each service to the plugin that provides it; refuses duplicates. */
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

function extenders(plugins: readonly AnyPlugin[], { provides = [] }: AnyPlugin): readonly AnyPlugin[] {
  return plugins.filter((plugin) => plugin.extends?.some((service) => provides.includes(service)));
}

/** Plugins in the order in which they start: providers first, and who adds to a service before those that only use it. */
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
    const used: AnyPlugin[] = [];
    for (const service of plugin.needs ?? []) {
      const provider = byService.get(service);
      if (provider) used.push(provider);
      else if (!BUILT_IN.has(service)) {
        throw composition(
          "missing_provider",
          `plugin "${plugin.name}" needs service "${service}", which no plugin provides`,
        );
      }
    }
    for (const service of plugin.wants ?? []) used.push(...[byService.get(service) ?? []].flat());
    for (const provider of used) visit(provider);
    for (const provider of used) {
      const others = extenders(plugins, provider);
      // Those that add to the same service do not wait for each other.
      if (!others.includes(plugin))
        for (const extender of others) if (!path.includes(extender)) visit(extender);
    }
    path.pop();
    done.add(plugin);
  };
  for (const plugin of plugins) visit(plugin);
  return [...done];
}

/** Only the plugins behind these services, with everything they need and whatever adds to them. */
export function closure(
  plugins: readonly AnyPlugin[],
  services: readonly ServiceName[],
): readonly AnyPlugin[] {
  const byService = providers(plugins);
  const kept = new Set<AnyPlugin>();
  const keep = (plugin: AnyPlugin | undefined): void => {
    if (!plugin || kept.has(plugin)) return;
    kept.add(plugin);
    for (const below of [...(plugin.needs ?? []), ...(plugin.wants ?? [])]) keep(byService.get(below));
    for (const extender of extenders(plugins, plugin)) keep(extender);
  };
  for (const service of services) keep(byService.get(service));
  return plugins.filter((plugin) => kept.has(plugin));
}

/**
 * Our plugins and those that the operator named in PLUGINS: where one of theirs provides a service of ours, ours is off. Its
 * settings are still read and checked, and its commands use what the other provides.
 */
export function compose(shipped: readonly AnyPlugin[], others: readonly AnyPlugin[]): readonly AnyPlugin[] {
  const theirs = providers(others);
  const replaced = new Map(
    shipped.flatMap((plugin) => {
      const by = plugin.provides?.flatMap((service) => theirs.get(service) ?? []).at(0);
      return by ? [[plugin, by] as const] : [];
    }),
  );
  const running = [...shipped.filter((plugin) => !replaced.has(plugin)), ...others];
  for (const [{ name, provides = [] }, by] of replaced) {
    const lacking = provides.filter((service) => !theirs.has(service));
    const needing = running.filter(({ needs }) => needs?.some((service) => lacking.includes(service)));
    if (needing.length === 0) continue;
    const services = lacking.map((service) => `"${service}"`).join(", ");
    throw composition(
      "incomplete_replacement",
      `plugin "${by.name}" replaces "${name}", which also provides ${services}, needed by ${needing.map((plugin) => plugin.name).join(", ")}: provide that too, or remove it from PLUGINS`,
    );
  }
  const alone = { needs: [], wants: [], provides: [], extends: [] };
  return [
    ...shipped.map((plugin) => {
      const by = replaced.get(plugin);
      return by ? { ...turnedOff(plugin, `replaced by ${by.name}`), ...alone } : plugin;
    }),
    ...others,
  ];
}

/** The same plugin, kept off for this reason; its settings are still read and checked. */
export function turnedOff(plugin: AnyPlugin, why: string): AnyPlugin {
  return {
    ...plugin,
    configure(env) {
      const config = plugin.configure(env);
      return config instanceof Off ? config : new Off(why);
    },
  };
}

function composition(code: string, message: string): Fault {
  return new Fault("config", code, message);
}
