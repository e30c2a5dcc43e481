/** `tool update` and `tool rollback`: from a version to the next and back. */
import { compareCapabilities } from "../../capabilities/describe.ts";
import { agree, isInteractive, type JsonOption, table, waitFor } from "../../kernel/kit/terminal.ts";
import { visibleLine } from "../../kernel/kit/text.ts";
import { type CommandContext, Fault } from "../../kernel/plugin.ts";
import { located } from "../author/trace/located.ts";
import { digestOf, type InstalledTool } from "../catalog/catalog.ts";
import { readCapabilities } from "../catalog/install.ts";
import { type Change, compareRelease, isSamePlace } from "../catalog/release.ts";
import type { Replacement } from "../installer.ts";
import type { ServiceHost } from "../service-host.ts";
import { readReference } from "../sources/local.ts";
import type { Fetched } from "../sources/source.ts";
import type { Sources } from "../sources/sources.ts";
import { describeSigner } from "../trust/evidence.ts";
import { isNamedBy, type JudgeSignature } from "../trust/judge.ts";
import { noSuchTool, requireTool, withHost } from "./host-access.ts";
import { askOnTerminal } from "./install.ts";
import { terminalPrompt } from "./terminal/prompt.ts";
import { bullets, print, progress } from "./terminal/terminal.ts";

interface UpdateOptions extends JsonOption {
  readonly check?: boolean;
  readonly yes?: boolean;
  readonly allowUnsigned?: boolean;
  readonly allowOlder?: boolean;
  readonly allowSignerChange?: boolean;
}

interface Updated {
  readonly name: string;
  readonly status: "current" | "available" | "updated" | "failed" | "no_origin" | "own_capabilities";
  readonly version: string;
  readonly detail?: string;
  readonly from?: string;
  readonly available?: object;
}

export async function update(
  context: CommandContext,
  name: string | undefined,
  options: UpdateOptions,
): Promise<void> {
  await withHost(context, async (host) => {
    const tools =
      name === undefined
        ? (await host.catalog.list()).filter(({ origin }) => origin !== undefined)
        : [await requireTool(host, name)];
    const results: Updated[] = [];
    for (const tool of tools) {
      try {
        results.push(await updateOne(host, tool, options));
      } catch (error) {
        // One that was named says why it failed; of many the others go on.
        if (name !== undefined || !(error instanceof Fault)) throw error;
        results.push({ ...identify(tool), status: "failed", detail: error.message });
        process.exitCode = 1;
      }
    }
    print(options, { tools: results }, () => render(results));
  });
}

async function updateOne(host: ServiceHost, tool: InstalledTool, options: UpdateOptions): Promise<Updated> {
  const { name } = tool;
  const told = identify(tool);
  if (tool.origin === undefined)
    return {
      ...told,
      status: "no_origin",
      detail: "it came with Postern or as a file, so there is no place to look for a newer one",
    };
  if (tool.origin.ownCapabilities === true)
    return {
      ...told,
      status: "own_capabilities",
      detail: `it was installed with capabilities of your own, which an update would replace; to update it: postern tool install ${told.from} --name ${name} --capabilities <file> --force`,
    };
  const finding = await waitFor(`looking for a newer ${name}`, options, () =>
    checkForUpdate(host, tool, progress),
  );
  if (finding === undefined) return { ...told, status: "current" };
  const available = wireOf(finding);
  if (options.check) {
    if (!options.json) progress(describe(name, finding));
    return { ...told, status: "available", available };
  }
  progress(describe(name, finding));
  const { change, fetched } = finding;
  await answerWarning(change.older, "Update to it?", "--allow-older", options.allowOlder);
  await answerWarning(change.signer, "Update to it?", "--allow-signer-change", options.allowSignerChange);
  const { component } = fetched;
  const consent = {
    unsigned: askOnTerminal(options),
    async replace(_: string, { kept }: Replacement) {
      if (kept.length > 0) progress(`The new version of ${name}:\n${bullets(kept)}`);
      await agree(`Update ${name} from ${change.version.before} to ${change.version.after}?`, options);
      return true;
    },
  };
  const proposal = await located(
    component,
    waitFor(`checking ${name}`, options, () => host.installer.propose(name, fetched, consent, progress)),
  );
  const { candidate } = proposal;
  const recordings = fetched.recordings ?? [];
  if (recordings.length > 0) progress(`replaying its recordings (${recordings.length})`);
  const failed = (await host.replay(candidate, recordings)).filter(({ ok }) => !ok);
  if (failed.length > 0) {
    await host.code.drop(candidate.digest);
    const why = failed.map(({ recording, detail }) => visibleLine(`${recording}: ${detail}`)).join("; ");
    const message = `${name} ${change.version.after} does not answer what its author recorded (${why}). Version ${change.version.before} stays installed.`;
    throw new Fault("invalid", "recordings_failed", message);
  }
  const placed = await host.installer.install(proposal, consent);
  const detail = `${recordings.length === 0 ? "it came without recordings" : `it answered its recordings (${recordings.length})`}; to go back: postern tool rollback ${name}`;
  return { ...told, version: placed.capabilities.version, status: "updated", detail, available };
}

/** `--yes` does not answer these: they are what a person has to see. */
async function answerWarning(
  sentence: string | undefined,
  question: string,
  option: string,
  isAllowed = false,
): Promise<void> {
  if (sentence === undefined || isAllowed) return;
  if (isInteractive() && (await terminalPrompt().agrees(`${sentence}. ${question}`))) return;
  const message = `${sentence}. Nothing was changed. --yes does not answer this; ${option} does.`;
  throw new Fault("invalid", "not_agreed", message);
}

function identify({ name, capabilities, origin }: InstalledTool) {
  return { name, version: capabilities.version, from: origin && (origin.listed ?? origin.reference) };
}

function wireOf({ change, fetched, signature }: Finding): object {
  return {
    version: change.version.after,
    origin: fetched.origin,
    signature: signature ?? null,
    added: change.added,
    removed: change.removed,
    warnings: [change.older, change.signer].filter((sentence) => sentence !== undefined),
  };
}

function describe(name: string, { change, fetched, signature }: Finding): string {
  const { version, added, removed, older, signer } = change;
  return [
    `${name} ${version.before} → ${version.after} (${fetched.origin.digest})`,
    ...[older, signer].flatMap((sentence) => (sentence === undefined ? [] : [`WARNING: ${sentence}.`])),
    ...(signature === undefined ? [] : [`  - ${signature}`]),
    ...(added.length > 0 ? [`It may do more:\n${bullets(added)}`] : []),
    ...(removed.length > 0 ? [`It may do less:\n${bullets(removed)}`] : []),
    ...(added.length + removed.length === 0 ? ["  - may do the same as before"] : []),
  ].join("\n");
}

function render(results: readonly Updated[]): string {
  if (results.length === 0) return "No tool came from a place where a newer one could be.";
  const words = {
    current: "up to date",
    available: "newer version available",
    updated: "updated",
    failed: "failed",
    no_origin: "not updated",
    own_capabilities: "not updated",
  };
  const rows = results.map(({ name, version, status, from, detail }) => [
    name,
    version,
    words[status],
    detail ?? from ?? "",
  ]);
  return table(["NAME", "VERSION", "STATUS", "DETAIL"], rows).trimEnd();
}

/** A rule that came after the version was installed holds for bringing it back, too. */
async function assertTrusted(
  { trust }: ServiceHost,
  { name, capabilities, origin }: InstalledTool,
): Promise<void> {
  const rules = origin === undefined ? [] : await trust.matching(origin);
  if (rules.length === 0 || isNamedBy(rules, origin?.signer)) return;
  const signed =
    origin?.signer === undefined ? "had no verified signature" : `was signed by ${origin.signer}`;
  const message = `${name} ${capabilities.version} ${signed} when it was installed, and the trust rule for ${rules[0]?.pattern} needs one by ${rules.map(({ signer }) => describeSigner(signer)).join(" or ")}. No option overrides a trust rule.`;
  throw new Fault("invalid", "tool_unsigned", message);
}

export async function rollback(
  context: CommandContext,
  name: string,
  options: JsonOption & { readonly yes?: boolean },
): Promise<void> {
  await withHost(context, async (host) => {
    const tool = await host.catalog.find(name);
    if (tool === undefined) throw noSuchTool(name);
    const previous = await host.catalog.previous(name);
    if (previous === undefined) {
      const message = `no version of ${name} before ${tool.capabilities.version} is kept: it was never updated or replaced`;
      throw new Fault("missing", "no_previous_version", message, { param: "name" });
    }
    await assertTrusted(host, previous.tool);
    const before = tool.capabilities.version;
    const { added } = compareCapabilities(tool.capabilities, previous.tool.capabilities);
    const kept = await host.keeps(name);
    if (kept.length > 0) progress(`${name} ${previous.tool.capabilities.version}:\n${bullets(kept)}`);
    if (added.length > 0) {
      progress(
        `${name} ${previous.tool.capabilities.version} can do more than ${before}. Again:\n${bullets(added)}`,
      );
      await agree(`Go back to a version of ${name} that can do more?`, options);
    } else if (kept.length > 0) await agree(`Go back and let that version of ${name} keep that?`, options);
    const { origin, choices } = previous.tool;
    const examined = await host.examine(previous.component, previous.capabilitiesText, progress, choices);
    // Earlier releases at its place stay known, so that the next update sees that the place did not move.
    const seen =
      origin !== undefined && tool.origin !== undefined && isSamePlace(origin, tool.origin)
        ? tool.seen
        : previous.tool.seen;
    const placed = await host.place(name, { ...examined, origin, seen: seen ?? [] }, true);
    const { version } = placed.capabilities;
    print(
      options,
      { name, version, digest: placed.digest, origin: origin ?? null, was: before, grants: examined.grants },
      () =>
        `${name} is back at version ${version} (SHA-256 ${placed.digest}). Version ${before} is kept: the same command brings it back.`,
    );
  });
}

interface Finding {
  readonly fetched: Fetched;
  readonly change: Change;
  readonly signature?: string;
}

async function checkForUpdate(
  { sources, judgeSignature }: { readonly sources: Sources; readonly judgeSignature: JudgeSignature },
  tool: InstalledTool,
  progress: (line: string) => void,
): Promise<Finding | undefined> {
  const { origin } = tool;
  if (origin === undefined) throw new Fault("invalid", "no_origin", `${tool.name} has no place to look at`);
  const reference =
    origin.listed === undefined
      ? readReference(origin.reference, "/")
      : ({ kind: "named", name: origin.listed } as const);
  const fetched = await sources.fetch(reference, { progress });
  const isLocal = origin.kind === "file" || origin.kind === "folder";
  const verdict = isLocal ? undefined : await judgeSignature(fetched.origin, fetched.evidence);
  const change = compareRelease(tool, {
    origin: { ...fetched.origin, signer: verdict?.signer },
    capabilities: readCapabilities(fetched.capabilitiesText, tool.choices),
    digest: digestOf(fetched.component),
  });
  if (change === undefined) return undefined;
  return { fetched, change, signature: verdict?.sentence };
}
