/** Tools on this machine's disk: a project's folder, or a component with its capabilities in it or beside it. */
import { statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { Fault, reason } from "../../kernel/plugin.ts";
import { digestOf } from "../catalog/catalog.ts";
import { readCapabilitiesSection } from "../compile/capabilities-section.ts";
import { readComponentFile } from "../compile/component-file.ts";
import { parseReference, type Reference, type ReferenceOf } from "./reference.ts";
import type { Fetched, RecordingFile, Source } from "./source.ts";

export function readReference(text: string, folder: string): Reference {
  const reference = parseReference(text, (path) => {
    const found = statSync(resolve(folder, path), { throwIfNoEntry: false });
    if (found === undefined) return undefined;
    return found.isDirectory() ? "folder" : "file";
  });
  if (reference.kind !== "folder" && reference.kind !== "file") return reference;
  return { kind: reference.kind, path: resolve(folder, reference.path) };
}

export const fileSource: Source<ReferenceOf<"file">> = {
  async fetch({ path }, { capabilitiesText }) {
    const component = await read(path, readComponentFile);
    const beside = `${withoutExtension(path)}.capabilities.json`;
    const text =
      capabilitiesText ?? readCapabilitiesSection(component) ?? (await readIfThere(beside))?.toString("utf8");
    if (text === undefined) throw lacking(path, `there is no ${basename(beside)} beside it`);
    return fetched("file", path, component, text, basename(withoutExtension(path)));
  },
};

export const folderSource: Source<ReferenceOf<"folder">> = {
  async fetch({ path }, { capabilitiesText }) {
    const file = await findComponent(path);
    const component = await read(file);
    const text =
      capabilitiesText ??
      (await readIfThere(join(path, "capabilities.json")))?.toString("utf8") ??
      readCapabilitiesSection(component);
    if (text === undefined) throw lacking(path, "it has no capabilities.json");
    const readme = (await readIfThere(join(path, "README.md")))?.toString("utf8");
    return {
      ...fetched("folder", path, component, text, basename(withoutExtension(file))),
      recordings: await readRecordings(join(path, "recordings")),
      readme,
    };
  },
};

function fetched(
  kind: "file" | "folder",
  path: string,
  component: Uint8Array,
  capabilitiesText: string,
  name: string,
): Fetched {
  const origin = { kind, reference: path, digest: `sha256:${digestOf(component)}` };
  return { component, capabilitiesText, name, origin, evidence: undefined };
}

async function findComponent(folder: string): Promise<string> {
  const dist = join(folder, "dist");
  const built = (await readdir(dist).catch(() => [])).filter((name) => name.endsWith(".wasm"));
  const own = `${basename(folder)}.wasm`;
  const [only, ...others] = built.includes(own) ? [own] : built.sort();
  const refuse = (why: string) =>
    new Fault("invalid", "no_component", `${folder} cannot be installed: ${why}`, { param: folder });
  if (only === undefined) throw refuse('there is no dist/*.wasm in it; build it with "postern tool build"');
  if (others.length > 0)
    throw refuse(`dist has several components (${built.join(", ")}); name one of the files`);
  return join(dist, only);
}

async function readRecordings(folder: string): Promise<readonly RecordingFile[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".json"));
  return Promise.all(
    names.sort().map(async (name) => ({ name, text: (await read(join(folder, name))).toString("utf8") })),
  );
}

export async function readText(file: string): Promise<string> {
  return (await read(file)).toString("utf8");
}

async function read(file: string, readBytes: (path: string) => Promise<Buffer> = readFile): Promise<Buffer> {
  try {
    return await readBytes(file);
  } catch (error) {
    throw new Fault("invalid", "file_unreadable", `${file} cannot be read: ${reason(error)}`, {
      param: file,
    });
  }
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  return statSync(file, { throwIfNoEntry: false }) === undefined ? undefined : read(file);
}

function withoutExtension(path: string): string {
  return path.replace(/\.wasm$/, "");
}

function lacking(what: string, why: string): Fault {
  const message = `nothing says what ${what} may do: ${why}, and there is none inside the component.`;
  return new Fault("invalid", "no_capabilities", message, { param: "capabilities", usage: true });
}
