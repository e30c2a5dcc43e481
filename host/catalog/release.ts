/** Compares what a tool's source offers now with what is installed and what was seen there before. Pure. */
import lt from "semver/functions/lt.js";
import valid from "semver/functions/valid.js";
import type { Capabilities } from "../../capabilities/capabilities.ts";
import { compareCapabilities } from "../../capabilities/describe.ts";
import type { ToolOrigin } from "../../kernel/kit/tools.ts";
import { type Candidate, type InstalledTool, isSameTool, type SeenRelease } from "./catalog.ts";

export interface Offer {
  readonly origin: ToolOrigin;
  readonly capabilities: Capabilities;
  readonly digest: string;
}

export interface Change {
  readonly version: { readonly before: string; readonly after: string };
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly older?: string;
  readonly signer?: string;
}

/** Enough to notice that a tag goes back, without growing for ever. */
const MAX_SEEN = 50;

/** Undefined where what is offered is what is installed. */
export function compareRelease(tool: InstalledTool, offer: Offer): Change | undefined {
  if (isSameTool(tool, offer)) return undefined;
  const older = findOlder(tool, offer);
  const signer = findSignerChange(tool, offer);
  return {
    version: { before: tool.capabilities.version, after: offer.capabilities.version },
    ...compareCapabilities(tool.capabilities, offer.capabilities),
    older,
    signer,
  };
}

/** Adds what is installed now to the releases that were seen at a tool's source. */
export function addSeen(before: InstalledTool | undefined, candidate: Candidate): readonly SeenRelease[] {
  const { origin } = candidate;
  if (origin === undefined) return [];
  const known = before?.origin !== undefined && isSamePlace(before.origin, origin) ? (before.seen ?? []) : [];
  const release = { digest: origin.digest, version: versionOf(origin, candidate.capabilities) };
  if (known.at(-1)?.digest === release.digest) return known;
  return [...known, release].slice(-MAX_SEEN);
}

export function isSamePlace(one: ToolOrigin, other: ToolOrigin): boolean {
  return one.listed === undefined ? one.reference === other.reference : one.listed === other.listed;
}

function findOlder(tool: InstalledTool, { origin, capabilities }: Offer): string | undefined {
  if (tool.origin === undefined) return undefined;
  const seen = tool.seen ?? [];
  const last = seen.at(-1) ?? {
    digest: tool.origin.digest,
    version: versionOf(tool.origin, tool.capabilities),
  };
  // After a rollback the place still offers what was rolled back.
  if (last.digest === origin.digest) return undefined;
  const version = versionOf(origin, capabilities);
  const place = origin.listed ?? origin.reference;
  if (seen.some(({ digest }) => digest === origin.digest))
    return `${place} went back to content that it had before (version ${version}; the last one was ${last.version})`;
  if (isOlder(version, last.version)) return `${place} went back from version ${last.version} to ${version}`;
  const hasVersions = origin.kind === "npm" || origin.kind === "oci";
  if (hasVersions && version === last.version)
    return `${place} has other content under the same version, ${version}`;
  return undefined;
}

function findSignerChange({ origin }: InstalledTool, offer: Offer): string | undefined {
  const [before, after] = [origin?.signer, offer.origin.signer];
  if (before === undefined || before === after) return undefined;
  return after === undefined
    ? `the installed version was signed by ${before}; no signature of this one could be verified`
    : `the installed version was signed by ${before}; this one is signed by ${after}`;
}

function versionOf(origin: ToolOrigin, { version }: Capabilities): string {
  return origin.version ?? version;
}

function isOlder(version: string, than: string): boolean {
  return valid(version) !== null && valid(than) !== null && lt(version, than);
}
