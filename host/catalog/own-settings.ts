/** Settings that one user has for themselves: in that user's calls they come before those of the installation. */
import type { Choices } from "../../capabilities/capabilities.ts";
import { Fault, type Keyed } from "../../kernel/plugin.ts";
import { digestOf } from "../secrets/entry.ts";
import type { InstalledTool } from "./catalog.ts";
import { readCapabilities } from "./install.ts";
import { type GivenSettings, NO_CHOICES, type SettingsOf } from "./settings.ts";

/** The namespace in the store. */
export const TOOL_SETTINGS = "tool-settings";

/** A tool as it is in the calls of one user; without one, as all users share it. */
export interface UsersTool extends InstalledTool {
  readonly user: string | undefined;
  /** Their settings say where or as whom secrets are sent: what all users share is not sent there. */
  readonly ownOnly: boolean;
}

export type OwnSettings = ReturnType<typeof createOwnSettings>;

export function createOwnSettings({
  keyed,
  choose,
}: Pick<SettingsOf, "choose"> & { readonly keyed: Keyed<Choices> }) {
  const keyOf = (tool: string, user: string) => `${tool}/${digestOf(user)}`;
  const find = async (tool: string, user: string) => (await keyed.get(keyOf(tool, user))) ?? NO_CHOICES;

  return {
    find,
    async apply(tool: InstalledTool, user: string | undefined): Promise<UsersTool> {
      const { capabilities, capabilitiesText, choices } = tool;
      const shared = { ...tool, user, ownOnly: false };
      if (user === undefined || capabilities.settings.length === 0) return shared;
      const own = await find(tool.name, user);
      if (Object.keys(own.settings).length === 0) return shared;
      const theirs = readCapabilities(capabilitiesText, {
        settings: { ...choices.settings, ...own.settings },
        privateHosts: [...choices.privateHosts, ...own.privateHosts],
      });
      const [all, their] = [capabilities, theirs].map(({ http }) =>
        JSON.stringify([http?.credentials, http?.allowlist]),
      );
      return { ...shared, capabilities: theirs, ownOnly: all !== their };
    },
    /** An empty value is that of the installation again. `agrees` is asked about private hosts: absent for a user, who may not allow them. */
    async configure(
      tool: InstalledTool,
      user: string,
      given: GivenSettings,
      agrees?: (asked: readonly string[]) => boolean | Promise<boolean>,
    ): Promise<void> {
      const own = await find(tool.name, user);
      const before = {
        settings: own.settings,
        privateHosts: [...own.privateHosts, ...tool.choices.privateHosts],
      };
      const { choices, asks } = await choose(tool.capabilitiesText, before, given);
      if (asks.length > 0 && agrees === undefined) {
        const message =
          "It names a private address, another port or plain http, which only the operator can allow. Nothing was changed.";
        throw new Fault("forbidden", "private_host", message, { param: "value" });
      }
      if (asks.length > 0 && !(await agrees?.(asks)))
        throw new Fault("invalid", "not_agreed", `${tool.name} keeps its settings; nothing was changed.`);
      if (Object.keys(choices.settings).length === 0) await keyed.delete(keyOf(tool.name, user));
      else await keyed.set(keyOf(tool.name, user), choices);
    },
    async forgetTool(tool: string): Promise<void> {
      for await (const [key] of keyed.iterator()) if (key.startsWith(`${tool}/`)) await keyed.delete(key);
    },
    async forgetUser(user: string): Promise<void> {
      for await (const [key] of keyed.iterator())
        if (key.endsWith(`/${digestOf(user)}`)) await keyed.delete(key);
    },
  };
}
