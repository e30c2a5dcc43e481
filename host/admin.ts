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
import type { Receipts } from "./calls/receipts.ts";
import type { Switches } from "./calls/switches.ts";
import type { Candidate, Catalog, InstalledTool } from "./catalog/catalog.ts";
import { checkName, compareWithInstalled } from "./catalog/install.ts";
import { describeTool } from "./catalog/tool-info.ts";
import type { CodeCache } from "./compile/code-cache.ts";
import type { ServerAdmin } from "./mcp/servers.ts";
import { secretsToEnter } from "./secrets/auth.ts";
import { holderOf } from "./secrets/holder.ts";
import { beginSignIn, finishSignIn, mergeScopes } from "./secrets/oauth.ts";
import type { Vault } from "./secrets/secrets.ts";
import type { SignIns, ToolSignIn } from "./secrets/sign-ins.ts";
import type { OAuthOptions } from "./secrets/token-request.ts";
import { createRemoteInstall, type RemoteInstallParts } from "./sources/remote-install.ts";

export interface AdminParts extends Omit<OAuthOptions, "values"> {
  readonly catalog: Catalog;
  readonly code: CodeCache;
  readonly switches: Switches;
  readonly receipts: Receipts;
  readonly vault: Vault;
  readonly signIns: SignIns<ToolSignIn>;
  readonly source: CredentialSource;
  readonly examine: (component: Uint8Array, capabilitiesText: string) => Promise<Candidate>;
  readonly describe: (tool: InstalledTool) => Promise<ToolInfo>;
  /** In place of the tool of that name, with the secrets that one had. */
  readonly place: (name: string, candidate: Candidate, force: boolean) => Promise<InstalledTool>;
  /** Sentences: the secrets that a replacement of this tool keeps. */
  readonly keeps: (name: string) => Promise<readonly string[]>;
  readonly remove: (name: string) => Promise<boolean>;
  readonly limits: Broker["limits"];
  readonly sources: RemoteInstallParts["sources"];
  readonly judgeSignature: RemoteInstallParts["judgeSignature"];
  /** Finishes an MCP server's sign-in; undefined where the address answers none. */
  readonly finishServerSignIn: ServerAdmin["finishSignIn"];
}

export function createAdmin(parts: AdminParts): Required<ToolAdmin> {
  const { catalog, receipts, vault, signIns, source } = parts;
  const vaultOf = (tool: InstalledTool) => vault.of(holderOf(tool));
  const knownSecret = async (name: string, secret: string) => {
    const tool = await installed(catalog, name);
    const accepted = secretsOf(tool).map((known) => known.name);
    // By signing in, or shared: not to be entered, but the tool's all the same.
    if (tool.capabilities.auth !== undefined) accepted.push(tool.capabilities.auth.secretName);
    if (accepted.includes(secret)) return vaultOf(tool).secrets;
    throw new Fault(
      "invalid",
      "unknown_secret",
      `${name} has no secret named ${secret}; it uses ${[...new Set(accepted)].join(", ") || "none"}.`,
      { param: "secret" },
    );
  };

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
          replaces: {
            version: replaced.version,
            added: [...replaced.added, ...(await parts.keeps(name))],
            removed: replaced.removed,
          },
        }),
      };
    },
    async install(name, upload, { replace }): Promise<ToolInfo> {
      const candidate = await examineUpload(name, upload);
      await compareWithInstalled(catalog, name, candidate, replace);
      return parts.describe(await parts.place(name, candidate, replace));
    },
    ...createRemoteInstall(parts),
    remove: parts.remove,
    enable: async (name) => parts.switches.enable(await installed(catalog, name)),
    limits: async (name, user) => parts.limits(name, (await installed(catalog, name)).capabilities, user),
    async setup(name): Promise<ToolSetup> {
      const tool = await installed(catalog, name);
      const { auth } = tool.capabilities;
      const holder = holderOf(tool);
      const signed = auth?.oauth === undefined ? [] : [{ name: auth.secretName, question: auth.displayName }];
      const asked = await Promise.all(
        [...secretsOf(tool), ...signed].map(async (secret, at, all) => {
          const shares = await source.question(holder, secret.name);
          // What comes from signing in is not entered; it is listed only to be asked about.
          if (at === all.length - signed.length && shares === undefined) return [];
          const isSet = await source.has(holder, secret.name, auth);
          return [{ ...secret, isSet, ...(shares !== undefined && { shares }) }];
        }),
      );
      return { secrets: asked.flat(), signsIn: auth?.oauth !== undefined };
    },
    setSecret: async (name, secret, value) => (await knownSecret(name, secret)).set(secret, value),
    shareSecret: async (name, secret) => (await knownSecret(name, secret)).share(secret),
    async beginSignIn(name, redirectUri) {
      const tool = await installed(catalog, name);
      const { capabilities } = tool;
      const { values } = vaultOf(tool);
      const { auth } = capabilities;
      if (auth?.oauth === undefined) {
        throw new Fault("invalid", "no_sign_in", `${name} does not use OAuth sign-in.`, { param: "name" });
      }
      const sharers = await vault.sharers(name, auth.secretName);
      const users = (await catalog.list()).filter((other) => sharers.includes(other.name));
      const held = (await values.read(auth.secretName))?.oauth?.scopes;
      const signIn = await beginSignIn({
        values,
        privateHosts: parts.privateHosts,
        secretName: auth.secretName,
        setup: auth.oauth,
        scopes: mergeScopes(
          auth.secretName,
          [tool, ...users].map((user) => user.capabilities),
          held,
        ),
        redirectUri,
      });
      await signIns.keep(signIn.state, { tool: name, digest: tool.digest, signIn });
      return { url: signIn.url };
    },
    async finishSignIn(redirected, browser) {
      const found = await signIns.take(redirected);
      const signedIn = found === undefined ? await parts.finishServerSignIn(redirected, browser) : undefined;
      if (signedIn !== undefined) return { tool: signedIn.server };
      const tool = found && (await catalog.find(found.tool));
      if (found === undefined || tool?.digest !== found.digest) {
        throw new Fault(
          "invalid",
          "no_such_sign_in",
          "This sign-in was not started here in the last ten minutes. Start it again.",
        );
      }
      await finishSignIn({ ...parts, values: vaultOf(tool).values }, found.signIn, redirected);
      return { tool: found.tool };
    },
    receipts: (query) => receipts.list(query),
    receipt: (id) => receipts.find(id),
    usage: (query) => receipts.usage(query),
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
