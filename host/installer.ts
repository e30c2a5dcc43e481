/** Installing a tool, for the command line and the page: checked, described, and put into the catalog after a yes. */
import { compareCapabilities } from "../capabilities/describe.ts";
import type { ToolOrigin } from "../kernel/kit/tools.ts";
import { Fault } from "../kernel/plugin.ts";
import type { Candidate, Catalog, InstalledTool } from "./catalog/catalog.ts";
import type { CodeCache } from "./catalog/code-cache.ts";
import { checkName, type Examine } from "./catalog/install.ts";
import type { Placement } from "./catalog/placement.ts";
import { type GivenSettings, NO_CHOICES, type SettingsOf } from "./catalog/settings.ts";
import type { Fetched } from "./sources/source.ts";
import type { JudgeSignature } from "./trust/judge.ts";

/** A fetched tool, or an upload, which has no origin and is not asked for a signature. */
export type Offer = Pick<Fetched, "component" | "capabilitiesText"> &
  Partial<Pick<Fetched, "origin" | "evidence" | "listedSigner">>;

/** The decisions that belong to the person who installs. Returning false refuses; throwing refuses in other words. */
export interface Consent {
  /** Nobody that a trust rule names has signed it. */
  unsigned(sentence: string, origin: ToolOrigin): boolean | Promise<boolean>;
  /** A setting names a host that is private, uses another port or plain http. Without it such hosts are refused. */
  privateHost?(sentence: string): boolean | Promise<boolean>;
  /** A tool of this name is installed. */
  replace(name: string, replacement: Replacement): boolean | Promise<boolean>;
}

export interface Replacement {
  readonly version: string;
  readonly digest: string;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly kept: readonly string[];
}

export interface Proposal {
  readonly name: string;
  readonly candidate: Candidate;
  /** Who signed it, for people; absent for what is on this machine's disk or was uploaded. */
  readonly signature?: string;
  readonly isSigned: boolean;
  readonly replaces?: Replacement;
}

export type Installer = ReturnType<typeof createInstaller>;

export function createInstaller({
  catalog,
  code,
  examine,
  judgeSignature,
  place,
  keeps,
  choose,
}: Pick<Placement, "place" | "keeps"> & {
  readonly catalog: Pick<Catalog, "find">;
  readonly code: Pick<CodeCache, "drop">;
  readonly examine: Examine;
  readonly judgeSignature: JudgeSignature;
  readonly choose: SettingsOf["choose"];
}) {
  async function compare(name: string, candidate: Candidate): Promise<Replacement | undefined> {
    const installed = await catalog.find(name);
    if (installed === undefined) return undefined;
    const { capabilities, digest } = installed;
    const changes = compareCapabilities(capabilities, candidate.capabilities);
    return { version: capabilities.version, digest, ...changes, kept: await keeps(name) };
  }

  return {
    async propose(
      name: string,
      offer: Offer,
      consent: Pick<Consent, "unsigned" | "privateHost">,
      progress?: (line: string) => void,
      settings: GivenSettings = {},
    ): Promise<Proposal> {
      checkName(name);
      // Before anything of it is read any further.
      const { origin, ...admitted } = await admit(judgeSignature, offer, consent);
      const before = (await catalog.find(name))?.choices ?? NO_CHOICES;
      const { choices, asks } = await choose(offer.capabilitiesText, before, settings);
      for (const question of asks)
        if (!(await consent.privateHost?.(question))) {
          const message = `${question}. Nothing was installed.`;
          throw new Fault("invalid", "private_host", message, { param: "settings" });
        }
      const examined = await examine(offer.component, offer.capabilitiesText, progress, choices);
      const candidate = { ...examined, origin };
      return { name, candidate, ...admitted, replaces: await compare(name, candidate) };
    },
    async install(
      { name, candidate, replaces }: Proposal,
      consent: Pick<Consent, "replace">,
    ): Promise<InstalledTool> {
      try {
        if (replaces !== undefined && !(await consent.replace(name, replaces))) {
          const message = `${name} is already installed (version ${replaces.version}).`;
          throw new Fault("invalid", "tool_exists", message, { param: "name" });
        }
        return await place(name, candidate, replaces !== undefined);
      } catch (error) {
        await code.drop(candidate.digest);
        throw error;
      }
    },
  };
}

/** Refuses what is not signed as it has to be. Tools from this machine's disk and uploads are not asked about. */
export async function admit(
  judge: JudgeSignature,
  { origin, evidence, listedSigner }: Pick<Offer, "origin" | "evidence" | "listedSigner">,
  consent: Pick<Consent, "unsigned">,
): Promise<Pick<Proposal, "signature" | "isSigned"> & { readonly origin?: ToolOrigin }> {
  if (origin === undefined || origin.kind === "file" || origin.kind === "folder")
    return { origin, isSigned: false };
  const { status, sentence, signer } = await judge(origin, evidence);
  if (status === "refused") throw unsigned(`${sentence}. No option overrides a trust rule.`);
  if (signer !== undefined && listedSigner !== undefined && signer !== listedSigner)
    throw unsigned(`${sentence}, but the index that lists it says ${listedSigner}. Nothing was installed.`);
  const isSigned = status === "signed";
  if (!isSigned && !(await consent.unsigned(sentence, origin)))
    throw unsigned(`${sentence} (${origin.reference}). Nothing was installed.`);
  return { origin: { ...origin, signer }, signature: sentence, isSigned };
}

export function unsigned(message: string): Fault {
  return new Fault("invalid", "tool_unsigned", message, { param: "allow_unsigned" });
}
