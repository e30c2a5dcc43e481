/** The operations that the operator's page has on tools; the `tool` commands do the same. */

import { Fault, type ToolInfo } from "../kernel/plugin.ts";
import { assertToken, isNeeded, secretsToEnter, toolsSharing } from "./authorization.ts";
import type { Broker } from "./broker/broker.ts";
import type { CredentialSource } from "./broker/credentials.ts";
import { beginSignIn, finishSignIn, type SignIn } from "./broker/oauth.ts";
import type { OAuthOptions } from "./broker/token-request.ts";
import type { Receipts } from "./calls/receipts.ts";
import type { Switches } from "./calls/switches.ts";
import type { Catalog, InstalledTool } from "./catalog/catalog.ts";
import { checkName } from "./catalog/install.ts";
import type { Placement } from "./catalog/placement.ts";
import type { SettingsOf } from "./catalog/settings.ts";
import { describeTool } from "./catalog/tool-info.ts";
import type { Installer, Offer, Proposal } from "./installer.ts";
import type { ServerAdmin } from "./mcp/servers.ts";
import { clientDocument } from "./mcp/sign-in/client-document.ts";
import { holderOf } from "./secrets/holder.ts";
import type { Vault } from "./secrets/secrets.ts";
import type { SignIns } from "./secrets/sign-ins.ts";
import type { ToolAdmin, ToolUpload } from "./services.ts";
import { searchEntries } from "./sources/index/listing.ts";
import { parseReference } from "./sources/reference.ts";
import type { Fetched } from "./sources/source.ts";
import type { Sources } from "./sources/sources.ts";
import type { ToolProposal, ToolSetup } from "./wire.ts";

/** It belongs to one version of a tool: one that took its place meanwhile does not get what the person agreed to. */
interface ToolSignIn {
  readonly tool: string;
  readonly digest: string;
  readonly signIn: SignIn;
}

const MAX_FOUND = 50;

export interface AdminParts extends Omit<OAuthOptions, "values"> {
  readonly catalog: Catalog;
  readonly switches: Switches;
  readonly receipts: Receipts;
  readonly vault: Vault;
  readonly signIns: SignIns<ToolSignIn>;
  readonly source: CredentialSource;
  readonly installer: Installer;
  readonly describe: (tool: InstalledTool) => Promise<ToolInfo>;
  readonly remove: Placement["remove"];
  readonly configure: SettingsOf["configure"];
  readonly limits: Broker["limits"];
  readonly sources: Sources;
  readonly finishServerSignIn: ServerAdmin["finishSignIn"];
}

export function createAdmin(parts: AdminParts): Required<ToolAdmin> {
  const { catalog, installer, receipts, sources, vault, signIns, source } = parts;
  const vaultOf = (tool: InstalledTool) => vault.of(holderOf(tool));
  const knownSecret = async (name: string, secret: string) => {
    const tool = await installed(catalog, name);
    const accepted = secretsOf(tool).map((known) => known.name);
    // It comes from signing in or is shared: nobody enters it, and it is the tool's all the same.
    if (tool.capabilities.auth !== undefined) accepted.push(tool.capabilities.auth.secretName);
    if (accepted.includes(secret)) return vaultOf(tool).secrets;
    const message = `${name} has no secret named ${secret}; it uses ${[...new Set(accepted)].join(", ") || "none"}.`;
    throw new Fault("invalid", "unknown_secret", message, { param: "secret" });
  };

  const fetch = (text: string): Promise<Fetched> => {
    const reference = parseReference(text);
    if (reference.kind === "file" || reference.kind === "folder")
      throw new Fault("invalid", "tool_reference", `${text} is a path: upload the files instead.`, {
        param: "from",
      });
    return sources.fetch(reference, { progress: () => {} });
  };

  const install = async (
    name: string,
    offer: Offer,
    agreed: { replace: boolean; allowUnsigned?: boolean },
  ) => {
    const proposal = await installer.propose(name, offer, { unsigned: () => agreed.allowUnsigned === true });
    return parts.describe(await installer.install(proposal, { replace: () => agreed.replace }));
  };

  return {
    async examine(name, upload): Promise<ToolProposal> {
      return show(await installer.propose(name, offerOf(upload), { unsigned: () => true }));
    },
    install: (name, upload, { replace }) => install(name, offerOf(upload), { replace }),
    async search(words) {
      const { entries, problems } = await sources.indexes.read();
      const found = searchEntries(entries, [words]).slice(0, MAX_FOUND);
      return { tools: found.map(({ capabilities: _, ...listed }) => listed), problems };
    },
    async find(text, given) {
      const fetched = await fetch(text);
      // The signature is shown, not asked about: installing it is the answer.
      const proposal = await installer.propose(given ?? fetched.name, fetched, { unsigned: () => true });
      const { name, candidate, signature = "", isSigned } = proposal;
      return {
        name,
        ...show(proposal),
        origin: candidate.origin ?? fetched.origin,
        signature,
        signed: isSigned,
      };
    },
    async installFound(text, { name, digest, ...agreed }) {
      checkName(name);
      const fetched = await fetch(text);
      if (fetched.origin.digest !== digest) {
        const message = `${text} has changed since you looked at it: its digest was ${digest} and is now ${fetched.origin.digest}. Nothing was installed; look at it again.`;
        throw new Fault("invalid", "tool_changed", message, { param: "digest" });
      }
      return install(name, fetched, agreed);
    },
    remove: parts.remove,
    enable: async (name) => parts.switches.enable(await installed(catalog, name)),
    limits: async (name, user) => parts.limits(name, (await installed(catalog, name)).capabilities, user),
    async setup(name): Promise<ToolSetup> {
      const tool = await installed(catalog, name);
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
          return [{ ...secret, isSet, shares }];
        }),
      );
      const settings = tool.capabilities.settings.map(({ default: usual, ...setting }) => ({
        ...setting,
        isDefault: setting.value === usual,
      }));
      return { secrets: asked.flat(), settings, signsIn: auth?.oauth !== undefined };
    },
    async setSetting(name, setting, value, isAgreed) {
      const asks: string[] = [];
      const agrees = (added: readonly string[]) => {
        asks.push(...added);
        return isAgreed;
      };
      try {
        await parts.configure(await installed(catalog, name), { [setting]: value }, agrees);
        return { saved: true, asks: [] };
      } catch (error) {
        if (error instanceof Fault && error.code === "not_agreed") return { saved: false, asks };
        throw error;
      }
    },
    async setSecret(name, secret, value) {
      const secrets = await knownSecret(name, secret);
      assertToken((await installed(catalog, name)).capabilities.auth, secret, value);
      return await secrets.set(secret, value);
    },
    shareSecret: async (name, secret) => (await knownSecret(name, secret)).share(secret),
    async beginSignIn(name, redirectUri) {
      const tool = await installed(catalog, name);
      const { values } = vaultOf(tool);
      const { auth } = tool.capabilities;
      if (auth?.oauth === undefined)
        throw new Fault("invalid", "no_sign_in", `${name} does not use OAuth sign-in.`, { param: "name" });
      const signIn = await beginSignIn({
        values,
        privateHosts: parts.privateHosts,
        secretName: auth.secretName,
        setup: auth.oauth,
        tools: await toolsSharing(parts, tool, auth.secretName),
        redirectUri,
      });
      await signIns.keep(signIn.state, { tool: name, digest: tool.digest, signIn });
      return { url: signIn.url };
    },
    clientDocument: (redirectUri) => ({ ...clientDocument(redirectUri) }),

    async finishSignIn(redirected, browser) {
      const found = await signIns.take(redirected);
      const signedIn = found === undefined ? await parts.finishServerSignIn(redirected, browser) : undefined;
      if (signedIn !== undefined) return { tool: signedIn.server };
      const tool = found && (await catalog.find(found.tool));
      if (found === undefined || tool?.digest !== found.digest) {
        const message = "This sign-in was not started here in the last ten minutes. Start it again.";
        throw new Fault("invalid", "no_such_sign_in", message);
      }
      await finishSignIn({ ...parts, values: vaultOf(tool).values }, found.signIn, redirected);
      return { tool: found.tool };
    },
    receipts: (query) => receipts.list(query),
    receipt: (id) => receipts.find(id),
    usage: (query) => receipts.usage(query),
  };
}

function offerOf({ component, capabilities }: ToolUpload): Offer {
  return { component, capabilitiesText: capabilities };
}

function show({ candidate, replaces }: Proposal): ToolProposal {
  return {
    ...describeTool(candidate),
    digest: candidate.digest,
    replaces: replaces && {
      version: replaces.version,
      added: [...replaces.added, ...replaces.kept],
      removed: replaces.removed,
    },
  };
}

async function installed(catalog: Catalog, name: string): Promise<InstalledTool> {
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
