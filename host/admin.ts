/** What the `tool` commands do, for the operator's page. */
import {
  Fault,
  type ToolAdmin,
  type ToolInfo,
  type ToolProposal,
  type ToolSetup,
  type ToolUpload,
} from "../kernel/plugin.ts";
import type { Broker } from "./broker/broker.ts";
import type { CredentialSource } from "./broker/credentials.ts";
import type { Catalog, InstalledTool } from "./catalog/catalog.ts";
import { type Candidate, checkName, commit, compareWithInstalled } from "./catalog/install.ts";
import { describeTool } from "./catalog/tool-info.ts";
import type { CodeCache } from "./compile/code-cache.ts";
import type { Receipts } from "./receipts.ts";
import { secretsToEnter } from "./secrets/auth.ts";
import { beginSignIn, finishSignIn, mergeScopes, type OAuthOptions } from "./secrets/oauth.ts";
import type { Secrets } from "./secrets/secrets.ts";
import type { SignIns } from "./secrets/sign-ins.ts";
import type { Switches } from "./switches.ts";

export interface AdminParts extends OAuthOptions {
  readonly catalog: Catalog;
  readonly code: CodeCache;
  readonly switches: Switches;
  readonly receipts: Receipts;
  readonly secrets: Secrets;
  readonly signIns: SignIns;
  readonly source: CredentialSource;
  readonly examine: (component: Uint8Array, capabilitiesText: string) => Promise<Candidate>;
  readonly describe: (tool: InstalledTool) => Promise<ToolInfo>;
  readonly remove: (name: string) => Promise<boolean>;
  readonly limits: Broker["limits"];
}

export function createAdmin(parts: AdminParts): ToolAdmin {
  const { catalog, code, receipts, secrets, signIns, source } = parts;

  const examineUpload = async (name: string, { component, capabilities }: ToolUpload): Promise<Candidate> => {
    checkName(name);
    return parts.examine(component, capabilities);
  };

  return {
    async examine(name, upload): Promise<ToolProposal> {
      const candidate = await examineUpload(name, upload);
      const replaced = await compareWithInstalled(catalog, name, candidate, true);
      return {
        ...describeTool(candidate),
        digest: candidate.digest,
        ...(replaced && {
          replaces: { version: replaced.version, added: replaced.added, removed: replaced.removed },
        }),
      };
    },
    async install(name, upload, { replace }): Promise<ToolInfo> {
      const candidate = await examineUpload(name, upload);
      const replaced = await compareWithInstalled(catalog, name, candidate, replace);
      const tool = await commit(catalog, name, candidate, replace);
      if (replaced !== undefined) await code.drop(replaced.digest);
      return parts.describe(tool);
    },
    remove: parts.remove,
    enable: async (name) => parts.switches.enable(await installed(catalog, name)),
    limits: async (name, user) => parts.limits(name, (await installed(catalog, name)).capabilities, user),
    async setup(name): Promise<ToolSetup> {
      const tool = await installed(catalog, name);
      const { auth } = tool.capabilities;
      const asked = await Promise.all(
        secretsOf(tool).map(async (secret) => ({ ...secret, isSet: await source.has(secret.name, auth) })),
      );
      return { secrets: asked, signsIn: auth?.oauth !== undefined };
    },
    async setSecret(name, secret, value) {
      const tool = await installed(catalog, name);
      const accepted = secretsOf(tool).map((known) => known.name);
      if (!accepted.includes(secret)) {
        throw new Fault(
          "invalid",
          "unknown_secret",
          `${name} has no secret named ${secret}; it uses ${accepted.join(", ") || "none"}.`,
          { param: "secret" },
        );
      }
      return secrets.set(secret, value);
    },
    async beginSignIn(name, redirectUri) {
      const { capabilities } = await installed(catalog, name);
      const { auth } = capabilities;
      if (auth?.oauth === undefined) {
        throw new Fault("invalid", "no_sign_in", `${name} does not use OAuth sign-in.`, { param: "name" });
      }
      const tools = (await catalog.list()).map((tool) => tool.capabilities);
      const held = (await parts.values.read(auth.secretName))?.oauth?.scopes;
      const signIn = await beginSignIn({
        values: parts.values,
        privateHosts: parts.privateHosts,
        secretName: auth.secretName,
        setup: auth.oauth,
        scopes: mergeScopes(auth.secretName, [capabilities, ...tools], held),
        redirectUri,
      });
      await signIns.keep(name, signIn);
      return { url: signIn.url };
    },
    async finishSignIn(redirected) {
      const found = await signIns.take(redirected);
      if (found === undefined) {
        throw new Fault(
          "invalid",
          "no_such_sign_in",
          "This sign-in was not started here in the last ten minutes. Start it again.",
        );
      }
      await finishSignIn(parts, found.signIn, redirected);
      return { tool: found.tool };
    },
    receipts: async (query) => receipts.list(query),
    receipt: async (id) => receipts.find(id),
  };
}

async function installed(catalog: Catalog, name: string): Promise<InstalledTool> {
  const tool = await catalog.find(name);
  if (tool === undefined) {
    throw new Fault("missing", "no_such_tool", `There is no tool ${name}.`, { param: "name" });
  }
  return tool;
}

/** What a person can enter for a tool; by hand also what its sign-in asks for, where that is not done elsewhere. */
function secretsOf({ capabilities }: InstalledTool) {
  const { auth } = capabilities;
  const others = secretsToEnter(capabilities);
  if (auth === undefined || auth.oauth !== undefined) return others;
  const { secretName, displayName, tokenHint, instructions, setupUrl } = auth;
  const byHand = {
    name: secretName,
    question: tokenHint === undefined ? displayName : `${displayName} (${tokenHint})`,
    ...(instructions !== "" && { instructions }),
    ...(setupUrl !== undefined && { url: setupUrl }),
  };
  return [...others, byHand];
}
