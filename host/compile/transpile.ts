/**
 * Components made ready to run, kept in a cache folder. An entry is a folder named by the component's SHA-256,
 * the transpiler's version and the memory limit. It is written beside its place and renamed into it, so that a
 * crash leaves no half entry and two installs at once do not disturb each other.
 */
import { createHash, randomUUID, subtle } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { Fault, MANIFEST as PACKAGE } from "../../kernel/kit.ts";
import type { Component } from "../sandbox/processes.ts";
import type { CodeBytes } from "../sandbox/protocol.ts";
import type { Outline } from "../wasm/component-reader.ts";
import { transpile } from "./component.ts";
import { place } from "./place.ts";

/** Counts the changes to what we do with the transpiler's output. */
const REVISION = 8;
const TRANSPILER = PACKAGE.devDependencies["@bytecodealliance/jco-transpile"];

export interface ComponentSource {
  readonly sha256: string;
  read(): Promise<Uint8Array>;
  /** The cache folder; it is made where it does not exist. */
  readonly cache: string;
  readonly memoryMb: number;
  /** True to compare memories after each call, whatever their size, where writes would be marked. */
  readonly compared?: boolean;
  /** Told in a few words what takes long. */
  readonly onProgress?: (step: string) => void;
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export function createComponent(source: ComponentSource): Component {
  return {
    key: `${source.sha256}-${source.memoryMb}`,
    sha256: source.sha256,
    memoryBytes: source.memoryMb * 2 ** 20,
    load: () => prepare(source),
    verify: async () => void (await readComponent(source)),
  };
}

/** True where the cache has an entry for it; a damaged one is made again. */
export function isPrepared(source: ComponentSource): boolean {
  return existsSync(join(source.cache, entryName(source)));
}

/** Returns what the reader found when the component was prepared; undefined where it was not prepared. */
export async function knownOutline(source: ComponentSource): Promise<Outline | undefined> {
  const folder = join(source.cache, entryName(source));
  try {
    const { checksums } = JSON.parse(await readFile(join(folder, MANIFEST), "utf8")) as Manifest;
    const outline = await readFile(join(folder, OUTLINE), "utf8");
    return crc32(outline) === checksums[OUTLINE] ? (JSON.parse(outline) as Outline) : undefined;
  } catch {
    return undefined;
  }
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

/** The entry of a component, from the cache or made now. Throws a `Fault` where it would be made of another file, or is unfit. */
export async function prepare(source: ComponentSource): Promise<CodeBytes> {
  const folder = join(source.cache, entryName(source));
  const kept = await readEntry(folder);
  if (kept !== undefined) return kept;
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
  const digest = await digestOf(bytes);
  if (digest === source.sha256) return bytes;
  throw new Fault(
    "unavailable",
    "digest_mismatch",
    `The component's file is not the one that was installed: its SHA-256 is ${digest}, recorded is ${source.sha256}. Install it again.`,
  );
}

/** Another thread does it: a tool's first call waits for it, and the largest components take 70 ms. */
async function digestOf(bytes: Uint8Array): Promise<string> {
  return Buffer.from(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)).toString("hex");
}

function entryName({ sha256: digest, memoryMb, compared = false }: ComponentSource): string {
  const made = sha256([REVISION, memoryMb, TRANSPILER, ...(compared ? ["compared"] : [])].join(" "));
  return `${digest}-${made.slice(0, 16)}`;
}

async function writeEntry(folder: string, bytes: Uint8Array, source: ComponentSource): Promise<void> {
  const { modules, glue, keeps, plain, outline } = await transpile(bytes, source.memoryMb, source.compared);
  const files = { ...modules, [GLUE]: glue, [OUTLINE]: JSON.stringify(outline) };
  const manifest: Manifest = {
    modules: Object.keys(modules),
    keeps,
    plain,
    checksums: Object.fromEntries(Object.entries(files).map(([name, content]) => [name, crc32(content)])),
  };
  const draft = `${folder}.${randomUUID()}.draft`;
  await mkdir(draft, { recursive: true });
  try {
    for (const [name, content] of Object.entries(files)) await writeFile(join(draft, name), content);
    await writeFile(join(draft, MANIFEST), JSON.stringify(manifest));
    if (await place(draft, folder)) return;
    // What is there is the equal entry of another install, which may be reading it, or a damaged one.
    if ((await readEntry(folder)) !== undefined) return;
    await rm(folder, { recursive: true, force: true });
    await place(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** Nothing where there is no entry, or where it is not as it was written. */
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
