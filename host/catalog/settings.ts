/** Settings of an installation: what the operator gives, where it lets the tool go, and what is asked about first. */
import { setTimeout as wait } from "node:timers/promises";
import type { Capabilities, Choices, Setting } from "../../capabilities/capabilities.ts";
import { compareCapabilities } from "../../capabilities/describe.ts";
import { type ChosenHost, hostOfSetting, readSetting } from "../../capabilities/settings.ts";
import { AddressRefused, type Lookup, type PrivateHosts, resolveFor } from "../../kernel/kit/outbound.ts";
import { visibleLine } from "../../kernel/kit/text.ts";
import { listing } from "../../kernel/kit/words.ts";
import { Fault } from "../../kernel/plugin.ts";
import type { Catalog, InstalledTool } from "./catalog.ts";
import { readCapabilities } from "./install.ts";

export type GivenSettings = Readonly<Record<string, string>>;

export interface Chosen {
  readonly choices: Choices;
  /** Hosts that are reached only if the operator agrees, each with a sentence that says why it is asked. */
  readonly asks: readonly string[];
}

export interface SettingsParts {
  readonly catalog: Pick<Catalog, "configure">;
  readonly privateHosts: PrivateHosts;
  readonly lookup?: Lookup;
}

export const NO_CHOICES: Choices = { settings: {}, privateHosts: [] };
const LOOKUP_TIMEOUT_MS = 5000;

export type SettingsOf = ReturnType<typeof createSettings>;

export function createSettings({ catalog, privateHosts, lookup }: SettingsParts) {
  /** Undefined where everybody may reach it as it is. */
  async function askAbout({ hostAndPort, host, isException }: ChosenHost, url: string) {
    const kind = await Promise.race([
      resolveFor(new URL(`https://${host}/`), NO_HOSTS, lookup).then(
        () => undefined,
        // A name that cannot be found now may be there later, and is checked again at every dial.
        (error: unknown) => (error instanceof AddressRefused ? error.message : undefined),
      ),
      wait(LOOKUP_TIMEOUT_MS, undefined, { ref: false }),
    ]);
    if (kind === undefined && !isException) return undefined;
    const what = [
      ...(kind === undefined ? [] : [kind]),
      ...(isException ? [`${url} uses ${url.startsWith("http:") ? "plain http" : "another port"}`] : []),
    ];
    return `It would reach ${hostAndPort}, which only you can allow: ${what.join(", and ")}`;
  }

  /** The choices with what is given now; an empty value takes the default again. */
  async function choose(capabilitiesText: string, before: Choices, given: GivenSettings): Promise<Chosen> {
    const { settings: declared } = readCapabilities(capabilitiesText);
    const settings: Record<string, string> = {};
    for (const { name } of declared)
      if (Object.hasOwn(before.settings, name)) settings[name] = before.settings[name] ?? "";
    for (const [name, value] of Object.entries(given)) {
      const setting = declared.find((one) => one.name === name);
      if (setting === undefined) throw unknownSetting(name, declared);
      if (value.trim() === "") delete settings[name];
      else settings[name] = read(setting, value);
    }
    const { http, settings: chosen } = readCapabilities(capabilitiesText, { settings, privateHosts: [] });
    const agreed = new Set<string>();
    const asks: string[] = [];
    for (const { name, format, value } of chosen) {
      const isNamed = http?.allowlist.some((rule) => rule.setting === name) ?? false;
      const host = isNamed && value !== undefined ? hostOfSetting(format, value) : undefined;
      if (host === undefined || privateHosts.has(host.hostAndPort) || agreed.has(host.hostAndPort)) continue;
      const wasAgreed = before.privateHosts.includes(host.hostAndPort);
      const question = wasAgreed ? undefined : await askAbout(host, value ?? "");
      if (wasAgreed || question !== undefined) agreed.add(host.hostAndPort);
      if (question !== undefined) asks.push(question);
    }
    return { choices: { settings, privateHosts: [...agreed] }, asks };
  }

  return {
    choose,
    /** `agrees` is asked where the tool may then do more. Throws where the person does not agree; nothing has changed then. */
    async configure(
      tool: InstalledTool,
      given: GivenSettings,
      agrees: (added: readonly string[]) => boolean | Promise<boolean>,
    ): Promise<InstalledTool> {
      const { choices, asks } = await choose(tool.capabilitiesText, tool.choices, given);
      const { added } = compareCapabilities(
        tool.capabilities,
        readCapabilities(tool.capabilitiesText, choices),
      );
      const asked = [...asks, ...added];
      if (asked.length > 0 && !(await agrees(asked)))
        throw new Fault("invalid", "not_agreed", `${tool.name} keeps its settings; nothing was changed.`);
      return catalog.configure(tool, choices);
    },
  };
}

const NO_HOSTS: PrivateHosts = new Set();

export function unsetSettings({ settings }: Capabilities): readonly string[] {
  return settings
    .filter(({ isRequired, value }) => isRequired && value === undefined)
    .map(({ name }) => name);
}

/** Says in one sentence what a tool still needs and how to provide it. */
export function explainNeeds(
  { name, capabilities }: Pick<InstalledTool, "name" | "capabilities">,
  settings: readonly string[],
  secrets: readonly string[] = [],
): string {
  const missing = [
    ...settings.map((one) => `the setting \`${one}\``),
    ...secrets.map((one) => `the secret \`${one}\``),
  ];
  const { secretName } = capabilities.auth ?? {};
  const entered = [...settings, ...secrets.filter((secret) => secret !== secretName)];
  const commands = [
    ...(entered.length > 0 ? [`postern tool setup ${name}`] : []),
    ...(secrets.some((secret) => secret === secretName) ? [`postern tool auth ${name}`] : []),
  ];
  return `${name} needs ${listing(missing)}. Give what is missing on the page, or with: ${commands.join(", then ")}`;
}

function read({ name, format }: Setting, given: string): string {
  const result = readSetting(format, given);
  if (result.ok) return result.value;
  const message = `The setting ${name} ${result.problem}, given "${visibleLine(given).slice(0, 200)}".`;
  throw new Fault("invalid", "bad_setting", message, { param: name });
}

function unknownSetting(name: string, declared: readonly Setting[]): Fault {
  const known = declared.map((setting) => setting.name).join(", ") || "none";
  const message = `There is no setting "${visibleLine(name).slice(0, 100)}"; the capabilities file declares ${known}.`;
  return new Fault("invalid", "unknown_setting", message, { param: name });
}
