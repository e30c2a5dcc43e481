/** `tool install`, `tool enable` and `tool remove`. */

import { agree, isInteractive, type JsonOption, waitFor } from "../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, reason } from "../../kernel/plugin.ts";
import { located } from "../author/trace/located.ts";
import { checkName } from "../catalog/install.ts";
import type { GivenSettings } from "../catalog/settings.ts";
import { type Consent, unsigned } from "../installer.ts";
import { readReference } from "../sources/local.ts";
import { noSuchTool, withHost } from "./host-access.ts";
import { terminalPrompt } from "./terminal/prompt.ts";
import { bullets, print, progress, readInput } from "./terminal/terminal.ts";

interface InstallOptions extends JsonOption {
  readonly capabilities?: string;
  readonly name?: string;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly allowUnsigned?: boolean;
  readonly set?: GivenSettings;
}

export async function install(context: CommandContext, what: string, options: InstallOptions): Promise<void> {
  if (options.name !== undefined) checkName(options.name);
  const reference = readReference(what, context.folder);
  const capabilitiesText =
    options.capabilities === undefined
      ? undefined
      : (await readInput(context, options.capabilities)).toString("utf8");
  await withHost(context, async ({ sources, installer, setup }) => {
    const fetching = () => sources.fetch(reference, { progress, capabilitiesText });
    const fetched = await waitFor(`fetching ${what}`, options, fetching).catch((error) =>
      Promise.reject(withOption(error, "capabilities", "Pass --capabilities <file>.")),
    );
    const { component } = fetched;
    const name = options.name ?? inferName(fetched.name);
    const origin =
      capabilitiesText === undefined ? fetched.origin : { ...fetched.origin, ownCapabilities: true };
    progress(`checking ${what} (${(component.length / 1e6).toFixed(1)} MB)`);
    const proposing = () =>
      installer.propose(name, { ...fetched, origin }, consentOn(options), progress, options.set);
    const proposal = await located(component, waitFor(`checking ${name}`, options, proposing));
    const { candidate, signature, replaces } = proposal;
    const { version } = candidate.capabilities;
    const rights = bullets([...(signature === undefined ? [] : [signature]), ...candidate.grants]);
    // A replacement is asked about where it can do more.
    const isAsked = isInteractive() && replaces === undefined;
    if (isAsked) {
      progress(`${name} ${version}:\n${rights}`);
      await agree(`Install ${name}?`, options);
    }
    const tool = await installer.install(proposal, { replace: askToReplace(options) });
    const { digest, installedAt } = tool;
    const needs = await setup.needs(tool);
    const { ownCapabilities: _, ...shownOrigin } = candidate.origin ?? origin;
    const { kept: __, ...replaced } = replaces ?? {};
    print(
      options,
      {
        name,
        version,
        digest,
        installed_at: installedAt,
        origin: shownOrigin,
        signature: signature ?? null,
        grants: candidate.grants,
        replaced: replaces === undefined ? null : replaced,
      },
      () =>
        [
          `Installed ${name} ${version} (SHA-256 ${digest}).${isAsked ? "" : ` It:\n${rights}`}`,
          ...(needs === undefined ? [] : [needs.why]),
        ].join("\n"),
    );
  });
}

/** Asks about what nobody the operator trusts has signed, where there is a terminal to ask on. */
export function askOnTerminal({
  allowUnsigned = false,
}: Pick<InstallOptions, "allowUnsigned">): Consent["unsigned"] {
  return (sentence, { reference }) => {
    if (allowUnsigned) return true;
    if (isInteractive()) return terminalPrompt().agrees(`${sentence}. Install it anyway?`);
    throw unsigned(`${sentence} (${reference}). Pass --allow-unsigned to install it anyway.`);
  };
}

/** Consent that is given before a tool is examined any further; a private host is agreed to like a wider grant. */
function consentOn(options: InstallOptions): Pick<Consent, "unsigned" | "privateHost"> {
  return {
    unsigned: askOnTerminal(options),
    async privateHost(sentence) {
      await agree(`${sentence}. Allow this tool to reach it?`, options);
      return true;
    },
  };
}

function askToReplace({ force = false, ...options }: InstallOptions): Consent["replace"] {
  return async (name, { version, added, kept }) => {
    if (!force) {
      const message = `${name} is already installed (version ${version}); pass --force to replace it`;
      throw new Fault("invalid", "tool_exists", message, { param: "name" });
    }
    if (added.length > 0) progress(`${name} can do more than version ${version}. New:\n${bullets(added)}`);
    if (kept.length > 0) progress(`This version of ${name}:\n${bullets(kept)}`);
    if (added.length > 0) await agree(`Replace ${name} with a version that can do more?`, options);
    else if (kept.length > 0) await agree(`Replace ${name} and let the new version keep that?`, options);
    return true;
  };
}

function inferName(name: string): string {
  try {
    checkName(name);
    return name;
  } catch (error) {
    throw withOption(error, "name", "Pass another with --name.");
  }
}

function withOption(error: unknown, param: string, hint: string): unknown {
  if (!(error instanceof Fault) || error.param !== param) return error;
  const { kind, code, usage } = error;
  const message = `${reason(error).replace(/\.?$/, ".")} ${hint}`;
  return new Fault(kind, code, message, { param, usage, cause: error });
}

export async function enable(context: CommandContext, name: string, options: JsonOption): Promise<void> {
  await withHost(context, async ({ catalog, switches }) => {
    const tool = await catalog.find(name);
    if (tool === undefined) throw noSuchTool(name);
    const enabled = await switches.enable(tool);
    print(options, { name, enabled }, () => (enabled ? `Switched ${name} on.` : `${name} was already on.`));
  });
}

export async function remove(context: CommandContext, name: string, options: JsonOption): Promise<void> {
  await withHost(context, async (host) => {
    if (!(await host.remove(name))) throw noSuchTool(name);
    print(options, { name, removed: true }, () => `Removed ${name}. Running calls will finish.`);
  });
}
