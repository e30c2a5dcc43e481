/** The operations that the operator's page has on tools; the `tool` commands do the same. */

import { Fault, type ToolInfo } from "../kernel/plugin.ts";
import { toolsSharing } from "./authorization.ts";
import type { Broker } from "./broker/broker.ts";
import { beginSignIn, finishSignIn, type SignIn } from "./broker/oauth.ts";
import type { OAuthOptions } from "./broker/token-request.ts";
import type { Receipts } from "./calls/receipts.ts";
import type { Switches } from "./calls/switches.ts";
import type { Catalog, InstalledTool } from "./catalog/catalog.ts";
import { checkName } from "./catalog/install.ts";
import type { OwnSettings } from "./catalog/own-settings.ts";
import type { Placement } from "./catalog/placement.ts";
import { describeTool } from "./catalog/tool-info.ts";
import type { Installer, Offer, Proposal } from "./installer.ts";
import type { ServerAdmin } from "./mcp/servers.ts";
import { clientDocument } from "./mcp/sign-in/client-document.ts";
import { holderOf } from "./secrets/holder.ts";
import type { Vault } from "./secrets/secrets.ts";
import { otherBrowser, type SignIns } from "./secrets/sign-ins.ts";
import type { ToolAdmin, ToolUpload } from "./services.ts";
import { installed, type Setup } from "./setup.ts";
import { searchEntries } from "./sources/index/listing.ts";
import { parseReference } from "./sources/reference.ts";
import type { Fetched } from "./sources/source.ts";
import type { Sources } from "./sources/sources.ts";
import type { ToolProposal } from "./wire.ts";

/** It belongs to one version of a tool: one that took its place meanwhile does not get what the person agreed to. */
interface ToolSignIn {
  readonly tool: string;
  readonly digest: string;
  /** Absent where it is for all users. */
  readonly user?: string | undefined;
  readonly signIn: SignIn;
}

const MAX_FOUND = 50;

export interface AdminParts extends Omit<OAuthOptions, "values"> {
  readonly catalog: Catalog;
  readonly switches: Switches;
  readonly receipts: Receipts;
  readonly vault: Vault;
  readonly signIns: SignIns<ToolSignIn>;
  readonly setup: Setup;
  readonly installer: Installer;
  readonly describe: (tool: InstalledTool, user?: string) => Promise<ToolInfo>;
  readonly remove: Placement["remove"];
  readonly ownSettings: Pick<OwnSettings, "apply">;
  readonly limits: Broker["limits"];
  readonly sources: Sources;
  readonly finishServerSignIn: ServerAdmin["finishSignIn"];
}

export function createAdmin(parts: AdminParts): Required<ToolAdmin> {
  const { catalog, installer, receipts, setup, sources, vault, signIns } = parts;
  const vaultOf = (tool: InstalledTool) => vault.of(holderOf(tool));
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
    setup: setup.of,
    setSetting: setup.setSetting,
    setSecret: setup.setSecret,
    removeSecret: setup.removeSecret,
    shareSecret: setup.shareSecret,
    async beginSignIn(name, redirectUri, user) {
      const tool = await parts.ownSettings.apply(await installed(catalog, name), user);
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
      await signIns.keep(signIn.state, { tool: name, digest: tool.digest, user, signIn });
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
      if (found.user !== undefined && browser?.began === false) throw otherBrowser(found.tool);
      const theirs = await parts.ownSettings.apply(tool, found.user);
      await finishSignIn({ ...parts, values: vaultOf(theirs).values }, found.signIn, redirected);
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
