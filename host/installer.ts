/**
 * Installing a tool, the same way for the command line and for the page: it is checked, described, and put into the catalog once
 * the person has agreed. Faults name no option of a command; a command adds its own in its `Consent`.
 */
import { compareCapabilities } from "../capabilities/describe.ts";
import type { ToolOrigin } from "../kernel/kit.ts";
import { Fault } from "../kernel/plugin.ts";
import type { Candidate, Catalog, InstalledTool } from "./catalog/catalog.ts";
import type { CodeCache } from "./catalog/code-cache.ts";
import type { Examine } from "./catalog/examination.ts";
import { checkName } from "./catalog/install.ts";
import type { Placement } from "./catalog/placement.ts";
import type { Fetched } from "./sources/source.ts";
import type { JudgeSignature } from "./trust/judge.ts";

/** What a source fetched, or an upload, which has no origin and is not asked for a signature. */
export type Offer = Pick<Fetched, "component" | "capabilitiesText"> &
  Partial<Pick<Fetched, "origin" | "evidence" | "listedSigner">>;

/** The decisions that belong to the person who installs. Returning false refuses; throwing refuses in other words. */
export interface Consent {
  /** Nobody that a trust rule names has signed it. */
  unsigned(sentence: string, origin: ToolOrigin): boolean | Promise<boolean>;
  /** A tool of this name is installed. */
  replace(name: string, replacement: Replacement): boolean | Promise<boolean>;
}

/** How a candidate differs from the installed tool of its name. */
export interface Replacement {
  readonly version: string;
  readonly digest: string;
  /** Sentences: what the tool could not do until now. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Sentences: the secrets that the new version would keep using. */
  readonly kept: readonly string[];
}

/** A tool that passed every check and is not installed. */
export interface Proposal {
  readonly name: string;
  readonly candidate: Candidate;
  /** Who signed it, for people; absent for what is on this machine's disk or was uploaded. */
  readonly signature?: string;
  /** A trust rule names who signed it. */
  readonly isSigned: boolean;
  readonly replaces?: Replacement;
}

export interface Installer {
  propose(
    name: string,
    offer: Offer,
    consent: Pick<Consent, "unsigned">,
    progress?: (line: string) => void,
  ): Promise<Proposal>;
  install(proposal: Proposal, consent: Pick<Consent, "replace">): Promise<InstalledTool>;
}

export function createInstaller({
  catalog,
  code,
  examine,
  judgeSignature,
  place,
  keeps,
}: Pick<Placement, "place" | "keeps"> & {
  readonly catalog: Pick<Catalog, "find">;
  readonly code: Pick<CodeCache, "drop">;
  readonly examine: Examine;
  readonly judgeSignature: JudgeSignature;
}): Installer {
  async function compare(name: string, candidate: Candidate): Promise<Replacement | undefined> {
    const installed = await catalog.find(name);
    if (installed === undefined) return undefined;
    const { capabilities, digest } = installed;
    const changes = compareCapabilities(capabilities, candidate.capabilities);
    return { version: capabilities.version, digest, ...changes, kept: await keeps(name) };
  }

  return {
    async propose(name, offer, consent, progress) {
      checkName(name);
      // Before anything of it is read any further.
      const { origin, ...admitted } = await admit(judgeSignature, offer, consent);
      const examined = await examine(offer.component, offer.capabilitiesText, progress);
      const candidate = { ...examined, origin };
      return { name, candidate, ...admitted, replaces: await compare(name, candidate) };
    },
    async install({ name, candidate, replaces }, consent) {
      try {
        if (replaces !== undefined && !(await consent.replace(name, replaces)))
          throw new Fault(
            "invalid",
            "tool_exists",
            `${name} is already installed (version ${replaces.version}).`,
            { param: "name" },
          );
        return await place(name, candidate, replaces !== undefined);
      } catch (error) {
        await code.drop(candidate.digest);
        throw error;
      }
    },
  };
}

export interface Admitted {
  readonly origin?: ToolOrigin;
  readonly signature?: string;
  readonly isSigned: boolean;
}

/** Refuses what is not signed as it has to be. Tools from this machine's disk and uploads are not asked about. */
export async function admit(
  judge: JudgeSignature,
  { origin, evidence, listedSigner }: Pick<Offer, "origin" | "evidence" | "listedSigner">,
  consent: Pick<Consent, "unsigned">,
): Promise<Admitted> {
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
