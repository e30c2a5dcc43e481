/**
 * Components made ready to run, kept in a cache folder. An entry is a folder named by the component's SHA-256,
 * the transpiler's version and the memory limit. It is written beside its place and renamed into it, so that a
 * crash leaves no half entry and two installs at once do not disturb each other.
 *
 * Shipped components bring their entry along, in the same folder as the component: a fresh home then has nothing to
 * transpile. It is as trusted as the rest of the package, which it is a part of, and no other place is looked at.
 */
import { hash, randomUUID, subtle } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { MANIFEST as PACKAGE } from "../../kernel/kit/files.ts";
import { Fault } from "../../kernel/plugin.ts";
import type { Description } from "../sandbox/pool.ts";
import type { Component } from "../sandbox/processes.ts";
import type { CodeBytes, Preopen } from "../sandbox/protocol.ts";
import type { Outline } from "../wasm/component-reader.ts";
import { transpile } from "./component.ts";
import { COMPONENTS } from "./component-file.ts";

/** Counts the changes to what we do with the transpiler's output. */
const REVISION = 12;
const TRANSPILER = PACKAGE.devDependencies["@bytecodealliance/jco-transpile"];

export interface ComponentSource {
  readonly sha256: string;
  read(): Promise<Uint8Array>;
  /** True where `read` itself refuses bytes that are not those of `sha256`. */
  readonly isChecked?: boolean;
  readonly cache: string;
  readonly memoryMb: number;
  readonly preopens?: readonly Preopen[];
  /** Where it was read before. */
  readonly outline?: Outline;
  readonly onProgress?: (step: string) => void;
}

export function createComponent(source: ComponentSource): Component {
  const { sha256, memoryMb, preopens = [] } = source;
  return {
    key: [sha256, memoryMb, ...preopens.map(({ path, access }) => `${access} ${path}`)].join("-"),
    sha256,
    memoryBytes: memoryMb * 2 ** 20,
    preopens,
    load: () => prepare(source),
    verify: async () => void (await readComponent(source)),
  };
}

export function isPrepared(source: ComponentSource): boolean {
  return entriesOf(source).some((folder) => existsSync(folder));
}

export async function knownOutline(source: ComponentSource): Promise<Outline | undefined> {
  const read = await firstOf(entriesOf(source), async (folder) => {
    const { checksums } = JSON.parse(await readFile(join(folder, MANIFEST), "utf8")) as Manifest;
    const outline = await readFile(join(folder, OUTLINE), "utf8");
    return crc32(outline) === checksums[OUTLINE] ? (JSON.parse(outline) as Outline) : undefined;
  });
  return read ?? (await introductionOf(source.sha256))?.outline;
}

/** What a shipped component says of itself, recorded when it was built: to install it, nothing of it has to be transpiled or run. */
export interface ShippedIntroduction {
  /** SHA-256 of the component. */
  readonly component: string;
  /** SHA-256 of the packages that it was built with, as the lock file has them, and of the contract. */
  readonly toolchain: string;
  /** SHA-256 of the script that its sources were bundled to. */
  readonly script: string;
  readonly outline: Outline;
  readonly description: Description;
}

export async function readIntroduction(file: string): Promise<ShippedIntroduction> {
  return JSON.parse(await readFile(file, "utf8")) as ShippedIntroduction;
}

/** Undefined for every component that is not shipped. */
export async function introductionOf(sha256: string): Promise<ShippedIntroduction | undefined> {
  const files = readdirSync(COMPONENTS).map((name) =>
    join(COMPONENTS, name, "dist", `${name}${INTRODUCTION}`),
  );
  return firstOf(files, async (file) => {
    const introduction = await readIntroduction(file);
    return introduction.component === sha256 ? introduction : undefined;
  });
}

/** Makes the entry that a shipped component brings along; `source.cache` is the folder that it is built into. */
export async function bringAlong(source: ComponentSource): Promise<string> {
  await prepare(source);
  return entryName(source);
}

async function firstOf<Value>(
  folders: readonly string[],
  read: (folder: string) => Promise<Value | undefined>,
): Promise<Value | undefined> {
  for (const folder of folders) {
    const value = await read(folder).catch(() => undefined);
    if (value !== undefined) return value;
  }
  return undefined;
}

interface Manifest {
  readonly modules: readonly string[];
  readonly keeps: readonly string[];
  readonly plain: boolean;
  /** CRC-32 of every other file of the entry, against damage: who can change a file can change this one. */
  readonly checksums: Readonly<Record<string, number>>;
}

const GLUE = "glue.js";
const MANIFEST = "manifest.json";
const OUTLINE = "outline.json";
/** The end of that file's name. */
export const INTRODUCTION = ".introduction.json";
const DRAFT = ".draft";

/** The entry of a component, from the cache or made now. Throws a `Fault` where it would be made of another file, or is unfit. */
export async function prepare(source: ComponentSource): Promise<CodeBytes> {
  const kept = await firstOf(entriesOf(source), readEntry);
  if (kept !== undefined) return kept;
  const folder = join(source.cache, entryName(source));
  const bytes = await readComponent(source);
  source.onProgress?.("transpiling the component");
  await writeEntry(folder, bytes, source);
  source.onProgress?.("compiling the component");
  const made = await readEntry(folder);
  if (made === undefined) throw new Error(`the cache entry ${folder} cannot be read back`);
  return made;
}

async function readComponent(source: ComponentSource): Promise<Uint8Array> {
  const bytes = await source.read();
  if (source.isChecked) return bytes;
  const digest = await digestOf(bytes);
  if (digest === source.sha256) return bytes;
  const message = `The component's file is not the one that was installed: its SHA-256 is ${digest}, recorded is ${source.sha256}. Install it again.`;
  throw new Fault("unavailable", "digest_mismatch", message);
}

/** Another thread does it: a tool's first call waits for it, and the largest components take 70 ms. */
async function digestOf(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)).toString("hex");
}

function entryName({ sha256: digest, memoryMb }: ComponentSource): string {
  const made = hash("sha256", [REVISION, memoryMb, TRANSPILER].join(" "));
  return `${digest}-${made.slice(0, 16)}`;
}

/** Its entry may be in the cache, or brought along. */
function entriesOf(source: ComponentSource): readonly string[] {
  return [join(source.cache, entryName(source)), ...broughtEntries(source)];
}

function broughtEntries(source: ComponentSource): readonly string[] {
  const entry = entryName(source);
  return readdirSync(COMPONENTS).map((name) => join(COMPONENTS, name, "dist", entry));
}

async function writeEntry(folder: string, bytes: Uint8Array, source: ComponentSource): Promise<void> {
  const { modules, glue, keeps, plain, outline } = await transpile(bytes, source.memoryMb, source.outline);
  const files = { ...modules, [GLUE]: glue, [OUTLINE]: JSON.stringify(outline) };
  const manifest: Manifest = {
    modules: Object.keys(modules),
    keeps,
    plain,
    checksums: Object.fromEntries(Object.entries(files).map(([name, content]) => [name, crc32(content)])),
  };
  const draft = `${folder}.${randomUUID()}${DRAFT}`;
  await mkdir(draft, { recursive: true });
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(draft, name), content);
    await writeFile(join(draft, MANIFEST), JSON.stringify(manifest));
    if (await place(draft, folder)) return;
    // An existing entry is the equal one of another install, which may be reading it, or a damaged one.
    if ((await readEntry(folder)) !== undefined) return;
    await rm(folder, { recursive: true, force: true });
    await place(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function readEntry(folder: string): Promise<CodeBytes | undefined> {
  try {
    const manifest = JSON.parse(await readFile(join(folder, MANIFEST), "utf8")) as Manifest;
    const read = async (name: string) => {
      const content = await readFile(join(folder, name));
      if (crc32(content) !== manifest.checksums[name]) throw new Error(`${name} has changed`);
      return content;
    };
    const [glue, ...contents] = await Promise.all([GLUE, ...manifest.modules].map(read));
    return {
      modules: manifest.modules.map((name, index) => [name, contents[index] as Buffer<ArrayBuffer>]),
      glue: (glue as Buffer).toString("utf8"),
      restorable: manifest.keeps.length === 0,
      plain: manifest.plain,
    };
  } catch {
    return undefined;
  }
}

/** False where something is there already. */
export async function place(draft: string, folder: string): Promise<boolean> {
  try {
    await rename(draft, folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
    return false;
  }
}
