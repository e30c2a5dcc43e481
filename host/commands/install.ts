/** `tool install`, `tool check` and `tool remove`. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Fault, reason } from "../../kernel/plugin.ts";
import type { Workbench } from "../../kernel/workbench.ts";
import { WIT_VERSION } from "../component.ts";
import { checkName, commit, compareWithInstalled, type Replacement } from "../install.ts";
import { withHost } from "./opening.ts";
import { agree, bullets, type JsonOption, print, progress } from "./terminal.ts";

interface InstallOptions extends JsonOption {
  readonly capabilities: string;
  readonly name: string;
  readonly force?: boolean;
  readonly yes?: boolean;
}

export async function install(workbench: Workbench, wasm: string, options: InstallOptions): Promise<void> {
  const { name, force = false } = options;
  checkName(name);
  const component = await read(workbench, wasm);
  const capabilitiesText = (await read(workbench, options.capabilities)).toString("utf8");
  await withHost(workbench, async ({ catalog, examine, code }) => {
    progress(`checking ${wasm} (${megabytes(component)})`);
    const candidate = await examine(component, capabilitiesText, progress);
    let replaced: Replacement | undefined;
    try {
      replaced = await compareWithInstalled(catalog, name, candidate, force);
      await agreeToWiden(name, replaced, options);
    } catch (error) {
      await code.drop(candidate.digest);
      throw error;
    }
    const { digest, installedAt } = await commit(catalog, name, candidate, force);
    if (replaced !== undefined) await code.drop(replaced.digest);
    const { version } = candidate.capabilities;
    print(
      options,
      {
        name,
        version,
        digest,
        installed_at: installedAt,
        grants: candidate.grants,
        replaced: replaced ?? null,
      },
      () => `Installed ${name} ${version} (SHA-256 ${digest}). It\n${bullets(candidate.grants)}`,
    );
  });
}

async function agreeToWiden(
  name: string,
  replaced: Replacement | undefined,
  options: InstallOptions,
): Promise<void> {
  if (replaced === undefined || replaced.added.length === 0) return;
  progress(
    `${name} may now do more than version ${replaced.version} could. New:\n${bullets(replaced.added)}`,
  );
  await agree(`Replace ${name} with a version that may do more?`, options);
}

export async function check(
  workbench: Workbench,
  wasm: string,
  options: JsonOption & { readonly capabilities?: string },
): Promise<void> {
  const component = await read(workbench, wasm);
  const capabilitiesText =
    options.capabilities === undefined
      ? JSON.stringify({ version: "0.0.0", wit_version: WIT_VERSION })
      : (await read(workbench, options.capabilities)).toString("utf8");
  await withHost(workbench, async ({ examine, code }) => {
    progress(`checking ${wasm} (${megabytes(component)})`);
    const { digest, description, schema, grants } = await examine(component, capabilitiesText, progress);
    await code.drop(digest);
    print(options, { ok: true, digest, description, schema, grants }, () => {
      const about = `${wasm} can be installed (SHA-256 ${digest}).\n\n${description}\n\n${JSON.stringify(schema, undefined, 2)}\n`;
      return options.capabilities === undefined
        ? `${about}\nIts capabilities were not checked: --capabilities <file> does.`
        : `${about}\nIt\n${bullets(grants)}`;
    });
  });
}

export async function remove(workbench: Workbench, name: string, options: JsonOption): Promise<void> {
  await withHost(workbench, async (host) => {
    if (!(await host.remove(name))) throw noSuchTool(name);
    print(options, { name, removed: true }, () => `Removed ${name}. Calls under way finish.`);
  });
}

export function noSuchTool(name: string): Fault {
  return new Fault(
    "missing",
    "no_such_tool",
    `there is no tool "${name}"; "postern tool list" shows what there is`,
    {
      param: "name",
    },
  );
}

async function read(workbench: Workbench, file: string): Promise<Buffer> {
  try {
    return await readFile(resolve(workbench.folder, file));
  } catch (error) {
    throw new Fault("invalid", "file_unreadable", `${file} cannot be read: ${reason(error)}`, {
      param: file,
    });
  }
}

function megabytes({ length }: Uint8Array): string {
  return `${(length / 1e6).toFixed(1)} MB`;
}
