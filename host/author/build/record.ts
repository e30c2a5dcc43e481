/** Records the inputs of a component: nothing is built twice, and nothing older than its sources is published. */
import { hash } from "node:crypto";
import { statSync } from "node:fs";
import { glob, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { MANIFEST } from "../../../kernel/kit/files.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { readCapabilitiesSection } from "../../compile/capabilities-section.ts";
import { readComponentFile } from "../../compile/component-file.ts";
import { openProject, type Project } from "../project.ts";

interface BuildRecord {
  /** SHA-256 of the component. */
  readonly component: string;
  /** Another version or engine builds another component. */
  readonly builder: string;
  /** SHA-256 of each source, by its path from the project's folder. */
  readonly sources: Readonly<Record<string, string>>;
}

/** Folders that we, or a package manager, write to, and files that are not built into the component. */
const NOT_SOURCES = new Set([
  "dist",
  "node_modules",
  "target",
  "recordings",
  "Cargo.lock",
  ".postern",
  ".git",
]);
const SOURCE = /(?<!\.test)\.(?:[cm]?[jt]sx?|json|wit|rs|toml|c|h|py|go|mod)$/;

const fileOf = ({ component, name }: Project) => join(dirname(component), `${name}.build.json`);

export function builderOf(engine: string, packages: Readonly<Record<string, string>>): string {
  return hash("sha256", JSON.stringify([MANIFEST.version, engine, packages]));
}

/** `inputs`: what the bundler read, packages included; empty where a compiler did it. */
export async function writeRecord(
  project: Project,
  component: Uint8Array,
  builder: string,
  inputs: readonly string[],
): Promise<void> {
  const sources: Record<string, string> = {};
  for (const path of new Set([...(await listSources(project)), ...inputs]))
    sources[path] = (await digestOf(project, path)) ?? "";
  const record: BuildRecord = { component: hash("sha256", component), builder, sources };
  await writeFile(fileOf(project), `${JSON.stringify(record, undefined, 1)}\n`);
}

/** True where building it again would make the same component. */
export async function isBuilt(project: Project, builder: string): Promise<boolean> {
  const record = await readRecord(project);
  return record?.builder === builder && (await findChange(project, record)) === undefined;
}

/** Throws where the component in a project's folder is not what its sources say. Other folders are their owner's business. */
export async function refuseStale(
  folder: string,
  component: Uint8Array,
  capabilitiesText: string,
): Promise<void> {
  const project = findProject(folder);
  if (project === undefined) return;
  const file = relative(folder, project.component);
  const refuse = (why: string) => {
    const message = `${file} ${why}. Run "postern tool build" and try again.`;
    throw new Fault("invalid", "stale_build", message, { param: folder });
  };
  const built = readCapabilitiesSection(component);
  if (built !== undefined && built !== capabilitiesText) {
    const [was, is] = [versionIn(built), versionIn(capabilitiesText)];
    refuse(
      was === is
        ? "was built with another capabilities.json"
        : `was built as version ${was}, and capabilities.json says ${is}`,
    );
  }
  const record = await readRecord(project);
  const changed = record ? await findChange(project, record) : findNewer(project);
  if (changed !== undefined) refuse(`is older than ${changed}`);
}

function findProject(folder: string): Project | undefined {
  try {
    return openProject(folder);
  } catch (error) {
    if (error instanceof Fault && error.code === "no_project") return undefined;
    throw error;
  }
}

function versionIn(capabilitiesText: string): unknown {
  return (JSON.parse(capabilitiesText) as { readonly version?: unknown }).version;
}

/** The record of the component that is there; undefined where there is none, or it is another's. */
async function readRecord(project: Project): Promise<BuildRecord | undefined> {
  try {
    const record = JSON.parse(await readFile(fileOf(project), "utf8")) as BuildRecord;
    const component = hash("sha256", await readComponentFile(project.component));
    return record.component === component ? record : undefined;
  } catch {
    return undefined;
  }
}

/** A source that was changed, added or removed since. */
async function findChange(project: Project, { sources }: BuildRecord): Promise<string | undefined> {
  for (const path of new Set([...Object.keys(sources), ...(await listSources(project))]))
    if ((await digestOf(project, path)) !== sources[path]) return path;
  return undefined;
}

function findNewer(project: Project): string | undefined {
  const changedAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const isNewer = changedAt(project.entry) > changedAt(project.component);
  return isNewer ? relative(project.folder, project.entry) : undefined;
}

async function digestOf({ folder }: Project, path: string): Promise<string | undefined> {
  const bytes = await readFile(join(folder, path)).catch(() => undefined);
  return bytes && hash("sha256", bytes);
}

async function listSources({ folder }: Project): Promise<readonly string[]> {
  const found: string[] = [];
  const exclude = ({ name }: { readonly name: string }) => NOT_SOURCES.has(name);
  for await (const entry of glob("**", { cwd: folder, withFileTypes: true, exclude }))
    if (entry.isFile() && SOURCE.test(entry.name))
      found.push(relative(folder, join(entry.parentPath, entry.name)));
  return found.sort();
}
