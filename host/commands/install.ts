/** `tool install` and `tool remove`. */
import { type CommandContext, Fault, reason } from "../../kernel/plugin.ts";
import { locateFault } from "../author/trace/located.ts";
import { checkName, compareWithInstalled, type Replacement } from "../catalog/install.ts";
import { type Admitted, admit } from "../sources/admission.ts";
import { readReference } from "../sources/local.ts";
import type { Fetched } from "../sources/source.ts";
import type { ToolHost } from "../tool-host.ts";
import { noSuchTool, withHost } from "./opening.ts";
import { readInput } from "./terminal/input.ts";
import { terminalPrompt } from "./terminal/prompt.ts";
import { agree, bullets, isInteractive, type JsonOption, print, progress } from "./terminal/terminal.ts";

interface InstallOptions extends JsonOption {
  readonly capabilities?: string;
  readonly name?: string;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly allowUnsigned?: boolean;
}

export async function install(context: CommandContext, what: string, options: InstallOptions): Promise<void> {
  const { force = false } = options;
  if (options.name !== undefined) checkName(options.name);
  const reference = readReference(what, context.folder);
  const capabilitiesText =
    options.capabilities === undefined
      ? undefined
      : (await readInput(context, options.capabilities)).toString("utf8");
  await withHost(context, async (host) => {
    const { catalog, examine, code, place, keeps } = host;
    const fetched = await host.sources.fetch(reference, {
      progress,
      ...(capabilitiesText !== undefined && { capabilitiesText }),
    });
    const { component } = fetched;
    const name = options.name ?? inferName(fetched.name);
    const { origin: verified, signature } = await admitOnTerminal(host, fetched, options);
    const origin = { ...verified, ...(capabilitiesText !== undefined && { ownCapabilities: true }) };
    progress(`checking ${what} (${megabytes(component)})`);
    const examined = await examine(component, fetched.capabilitiesText, progress).catch((error: unknown) =>
      Promise.reject(locateFault(error, component)),
    );
    const candidate = { ...examined, origin };
    let replaced: Replacement | undefined;
    try {
      replaced = await compareWithInstalled(catalog, name, candidate, force);
      await agreeToWiden(name, replaced, await keeps(name), options);
    } catch (error) {
      await code.drop(candidate.digest);
      throw error;
    }
    const { digest, installedAt } = await place(name, candidate, force);
    const { version } = candidate.capabilities;
    print(
      options,
      {
        name,
        version,
        digest,
        installed_at: installedAt,
        origin: verified,
        signature: signature ?? null,
        grants: candidate.grants,
        replaced: replaced ?? null,
      },
      () =>
        `Installed ${name} ${version} (SHA-256 ${digest}). It:\n${bullets([...(signature === undefined ? [] : [signature]), ...candidate.grants])}`,
    );
  });
}

/** Asks about what nobody the operator trusts has signed, where there is a terminal to ask on. */
export function admitOnTerminal(
  { judgeSignature }: ToolHost,
  fetched: Fetched,
  { allowUnsigned = false }: { readonly allowUnsigned?: boolean },
): Promise<Admitted> {
  return admit(judgeSignature, fetched, {
    ...(allowUnsigned && { allowUnsigned }),
    ...(isInteractive() && {
      ask: (sentence) => terminalPrompt().agrees(`${sentence}. Install it anyway?`),
    }),
  });
}

function inferName(name: string): string {
  try {
    checkName(name);
    return name;
  } catch (error) {
    throw new Fault("invalid", "tool_name", `${reason(error)}. Pass another with --name.`, {
      param: "name",
      usage: true,
    });
  }
}

async function agreeToWiden(
  name: string,
  replaced: Replacement | undefined,
  kept: readonly string[],
  options: InstallOptions,
): Promise<void> {
  if (replaced === undefined) return;
  const { version, added } = replaced;
  if (added.length > 0) progress(`${name} can do more than version ${version}. New:\n${bullets(added)}`);
  if (kept.length > 0) progress(`This version of ${name}:\n${bullets(kept)}`);
  if (added.length > 0) await agree(`Replace ${name} with a version that can do more?`, options);
  else if (kept.length > 0) await agree(`Replace ${name} and let the new version keep that?`, options);
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

function megabytes({ length }: Uint8Array): string {
  return `${(length / 1e6).toFixed(1)} MB`;
}
