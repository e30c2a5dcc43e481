/** Settings and secrets of an installed tool: what it needs before it works, and giving it that. */
import { Fault, type ToolInfo } from "../kernel/plugin.ts";
import { assertToken, isNeeded, secretsToEnter } from "./authorization.ts";
import { type CredentialSource, missingCredential, missingSecrets } from "./broker/credentials.ts";
import type { Catalog, InstalledTool } from "./catalog/catalog.ts";
import type { OwnSettings } from "./catalog/own-settings.ts";
import { explainNeeds, type SettingsOf, unsetSettings } from "./catalog/settings.ts";
import { holderOf } from "./secrets/holder.ts";
import type { Vault } from "./secrets/secrets.ts";
import type { ToolSetup } from "./wire.ts";

export interface SetupParts {
  readonly catalog: Pick<Catalog, "find">;
  readonly vault: Pick<Vault, "of">;
  readonly source: CredentialSource;
  readonly configure: SettingsOf["configure"];
  readonly ownSettings: OwnSettings;
}

export type Setup = ReturnType<typeof createSetup>;

/** Everywhere `user` is whose own it is about; without one it is what all users share. */
export function createSetup({ catalog, vault, source, configure, ownSettings }: SetupParts) {
  const find = async (name: string, user: string | undefined) =>
    ownSettings.apply(await installed(catalog, name), user);
  const knownSecret = async (name: string, secret: string, user: string | undefined) => {
    const tool = await find(name, user);
    const accepted = secretsOf(tool).map((known) => known.name);
    // It comes from signing in or is shared: nobody enters it, and it is the tool's all the same.
    if (tool.capabilities.auth !== undefined) accepted.push(tool.capabilities.auth.secretName);
    if (accepted.includes(secret)) return vault.of(holderOf(tool)).secrets;
    const message = `${name} has no secret named ${secret}; it uses ${[...new Set(accepted)].join(", ") || "none"}.`;
    throw new Fault("invalid", "unknown_secret", message, { param: "secret" });
  };

  return {
    /** What is missing before the tool works. */
    async needs(installed: InstalledTool, user?: string): Promise<ToolInfo["needs"]> {
      const tool = await ownSettings.apply(installed, user);
      const settings = unsetSettings(tool.capabilities);
      const secrets = await missingSecrets(tool, source);
      const names = [...settings, ...secrets];
      if (names.length === 0) return undefined;
      // Nothing asks for a setting, or for a secret that no request carries, while a call waits.
      const isOffered = settings.length === 0 && (await missingCredential(tool, source)) !== undefined;
      return { names, why: explainNeeds(tool, settings, secrets), isOffered };
    },
    async of(name: string, user?: string): Promise<ToolSetup> {
      const tool = await find(name, user);
      const own = user === undefined ? undefined : await ownSettings.find(name, user);
      const { values } = vault.of(holderOf(tool));
      const { auth } = tool.capabilities;
      const holder = holderOf(tool);
      const signed =
        auth?.oauth === undefined
          ? []
          : [
              {
                name: auth.secretName,
                question: auth.displayName,
                isRequired: isNeeded(tool.capabilities, auth.secretName),
              },
            ];
      const asked = await Promise.all(
        [...secretsOf(tool), ...signed].map(async (secret, at, all) => {
          const shares = await source.question(holder, secret.name);
          // A sign-in is not entered; it is listed only to be asked about.
          if (at === all.length - signed.length && shares === undefined) return [];
          const isSet = await source.has(holder, secret.name, auth);
          if (user === undefined) return [{ ...secret, isSet, shares }];
          const isOwn = (await values.readOwn(secret.name)) !== undefined;
          return [{ ...secret, isSet, shares, isOwn }];
        }),
      );
      const settings = tool.capabilities.settings.map(({ default: usual, value, ...setting }) => {
        const isDefault = value === usual;
        if (own === undefined) return { ...setting, value, isDefault };
        const isOwn = Object.hasOwn(own.settings, setting.name);
        // What the operator chose is not for every user to see.
        return { ...setting, value: isOwn || isDefault ? value : undefined, isDefault, isOwn };
      });
      return { secrets: asked.flat(), settings, signsIn: auth?.oauth !== undefined };
    },
    async setSetting(name: string, setting: string, value: string, isAgreed: boolean, user?: string) {
      if (user !== undefined) {
        await ownSettings.configure(await installed(catalog, name), user, { [setting]: value });
        return { saved: true, asks: [] };
      }
      const asks: string[] = [];
      const agrees = (added: readonly string[]) => {
        asks.push(...added);
        return isAgreed;
      };
      try {
        await configure(await installed(catalog, name), { [setting]: value }, agrees);
        return { saved: true, asks: [] };
      } catch (error) {
        if (error instanceof Fault && error.code === "not_agreed") return { saved: false, asks };
        throw error;
      }
    },
    async setSecret(name: string, secret: string, value: string, user?: string) {
      const secrets = await knownSecret(name, secret, user);
      assertToken((await installed(catalog, name)).capabilities.auth, secret, value);
      return await secrets.set(secret, value);
    },
    removeSecret: async (name: string, secret: string, user?: string) =>
      (await knownSecret(name, secret, user)).remove(secret),
    shareSecret: async (name: string, secret: string, user?: string) =>
      (await knownSecret(name, secret, user)).share(secret),
  };
}

export async function installed(catalog: Pick<Catalog, "find">, name: string): Promise<InstalledTool> {
  const tool = await catalog.find(name);
  if (tool === undefined)
    throw new Fault("missing", "no_such_tool", `There is no tool ${name}.`, { param: "name" });
  return tool;
}

/** Lists what a person can enter for a tool, with the token of a sign-in that is not done by OAuth. */
function secretsOf({ capabilities }: InstalledTool) {
  const { auth } = capabilities;
  const others = secretsToEnter(capabilities);
  if (auth === undefined || auth.oauth !== undefined) return others;
  const { secretName, displayName, tokenHint, instructions, setupUrl } = auth;
  const byHand = {
    name: secretName,
    question: tokenHint === undefined ? displayName : `${displayName} (${tokenHint})`,
    instructions: instructions === "" ? undefined : instructions,
    url: setupUrl,
    isRequired: isNeeded(capabilities, secretName),
  };
  return [...others, byHand];
}
