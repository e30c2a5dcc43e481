/** The components of test/fixtures/components, built when first wanted and kept by their digest. */
import { hash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { cp, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { createComponent } from "../../../host/compile/transpile.ts";
import type { Component } from "../../../host/sandbox/processes.ts";
import { ROOT } from "../clone.ts";
import { postern } from "../processes/postern.ts";
import { alone, CACHE } from "./alone.ts";
import { builderInputs, kept } from "./kept.ts";

const FIXTURES = join(ROOT, "test", "fixtures", "components");
const WIT = join(ROOT, "wit");

/** Each language has a folder, named as its files end. */
const fixtureFile = (name: string) => join(FIXTURES, extname(name).slice(1), name);

export async function fixture(name: string): Promise<Uint8Array> {
  const source = readFileSync(fixtureFile(name));
  return kept(name, [source], () => build(name, source.toString()));
}

/** With one place of its source replaced. */
export async function fixtureWith(name: string, place: string, replacement: string): Promise<Uint8Array> {
  const source = readFileSync(fixtureFile(name), "utf8").replace(place, replacement);
  return kept(name, [source], () => build(name, source));
}

/** The same tool as `echo.js`, built the way the shipped tools are. */
export async function componentizeJsFixture(name: string): Promise<Uint8Array> {
  const source = readFileSync(fixtureFile(name));
  return kept(`componentize-js-${name}`, [source], async () => {
    const { componentize } = await import("@bytecodealliance/componentize-js");
    const options = {
      sourcePath: fixtureFile(name),
      witWorld: readFileSync(join(WIT, "tool.wit"), "utf8"),
      worldName: "sandboxed-tool",
      disableFeatures: ["http" as const, "fetch-event" as const],
    };
    const { component } = await componentize(options);
    return component;
  });
}

/** A script that may use `fetch`, made the way `postern tool build` makes it. */
export async function builtFixture(name: string): Promise<Uint8Array> {
  return builtScript(name, readFileSync(fixtureFile(name), "utf8"));
}

/** The same from a source that a test has; it may import npm packages. */
export async function builtScript(name: string, source: string): Promise<Uint8Array> {
  return kept(`built-${name}`, [source, ...builderInputs()], () => buildAlone(source));
}

/** In a process of its own: the bundler leaves one running beside it. */
async function buildAlone(source: string): Promise<Uint8Array> {
  const parent = mkdtempSync(join(tmpdir(), "postern-built-"));
  try {
    const folder = join(parent, "built");
    mkdirSync(folder);
    writeFileSync(join(folder, "tool.js"), source);
    // For the npm packages it imports.
    symlinkSync(join(ROOT, "node_modules"), join(parent, "node_modules"));
    const env = { POSTERN_HOME: join(parent, "home") };
    const { code, stderr } = await postern(["tool", "build", folder], { cwd: parent, env });
    if (code !== 0) throw new Error(stderr);
    return readFileSync(join(folder, "dist", "built.wasm"));
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** `smuggler.wat`, which also makes so many instances of another core module, each time in so many components. */
export async function repeated(name: string, times: number, components = 1): Promise<Uint8Array> {
  const { parse, print } = await import("@bytecodealliance/jco");
  const module = readFileSync(fixtureFile(name), "utf8").replace("(module", "(core module $repeated");
  const inner = `(component $inner ${module} ${"(core instance (instantiate $repeated))".repeat(times)})`;
  const whole = (await print(await fixture("smuggler.wat"))).trimEnd();
  return parse(`${whole.slice(0, -1)} ${inner} ${"(instance (instantiate $inner))".repeat(components)})`);
}

/** A component that the pool takes. */
export function toComponent(
  bytes: Uint8Array,
  memoryMb = 64,
  preopens: Component["preopens"] = [],
): Component {
  return createComponent({
    sha256: hash("sha256", bytes),
    read: async () => bytes,
    cache: CACHE,
    memoryMb,
    preopens,
  });
}

/** Spares every home the seconds it takes to transpile the same component again. */
export async function copyCode(bytes: Uint8Array, home: string): Promise<void> {
  const component = toComponent(bytes);
  await alone(component.sha256, () => component.load());
  for (const entry of await readdir(CACHE)) {
    if (!entry.startsWith(component.sha256) || entry.endsWith(".draft")) continue;
    await cp(join(CACHE, entry), join(home, "cache", entry), { recursive: true });
  }
}

/** The contract with a world of what the script imports; a part of WASI comes as the toolchain brings it. */
function worldOf(source: string): string {
  const contract = readFileSync(join(WIT, "tool.wit"), "utf8").replace(
    "execute: func",
    isAsync(source) ? "execute: async func" : "$&",
  );
  const imported = [...source.matchAll(/from "((?:postern:tool\/(?!host)|wasi:)[^"]+)"/g)].map(
    ([, name = ""]) => name,
  );
  // Within its own package an interface goes by its bare name.
  const names = imported.map((name) => name.replace(/^postern:tool\/(.*)@.*$/, "$1"));
  const world = `world fixture { include sandboxed-tool; ${names.map((name) => `import ${name};`).join(" ")} }`;
  const isWasi = imported.some((name) => name.startsWith("wasi:"));
  const packages = isWasi
    ? [...WASI_PACKAGES.map((name) => wasiPackage(name)), readFileSync(KEYVALUE, "utf8")]
    : [];
  const packages3 = isRelease3(source) ? WASI_3_PACKAGES.map((name) => wasiPackage(name, "0.3.0")) : packages;
  return [contract, world, ...packages3].join("\n").replace(ASYNC_SEND, "$1");
}

const isRelease3 = (source: string) => /from "wasi:[^"]+@0\.3\.0"/.test(source);

/**
 * componentize-qjs 0.4.5 makes no component that imports an `async func` outside of its own WASI: it runs the script with imports
 * that trap, and makes those synchronous. So `send` is synchronous while it builds, and is marked in the component afterwards.
 */
const ASYNC_SEND = /(\binterface client \{[\s\S]*?\bsend: )async /;
const [PLAIN_FUNCTION, ASYNC_FUNCTION] = [0x40, 0x43];

function withAsyncSend(component: Uint8Array): Uint8Array {
  const bytes = Buffer.from(component);
  const type = Buffer.from([PLAIN_FUNCTION, 1, "request".length, ...Buffer.from("request")]);
  for (let at = bytes.indexOf(type); at >= 0; at = bytes.indexOf(type, at + 1)) bytes[at] = ASYNC_FUNCTION;
  return bytes;
}

const isAsync = (source: string) => source.includes("async execute(");

const KEYVALUE = join(FIXTURES, "wit", "packages", "keyvalue.wit");
const WASI_PACKAGES = ["io", "clocks", "sockets", "filesystem"];
const WASI_3_PACKAGES = ["clocks", "random", "cli", "filesystem", "sockets", "http"];

/** WASI's own packages, as the toolchain brings them, in the form in which one file may hold several. */
export function wasiPackage(name: string, release = "0.2.12"): string {
  const file = join(
    ROOT,
    `node_modules/@bytecodealliance/jco/lib/wit/builtin/${release}/wasi-${name}/package.wit`,
  );
  const text = readFileSync(file, "utf8").replace(/^world [\s\S]*?^\}/gm, "");
  return text.replace(/^package (.*?);([\s\S]*)$/m, "package $1 {$2}");
}

async function build(name: string, source: string): Promise<Uint8Array> {
  if (name.endsWith(".js")) {
    const { componentize } = await import("componentize-qjs");
    const folder = mkdtempSync(join(tmpdir(), "postern-fixture-"));
    try {
      const witPath = join(folder, "tool.wit");
      writeFileSync(witPath, worldOf(source));
      const options = { witPath, jsSource: source, world: "fixture", sync: !isAsync(source) };
      const { component } = await componentize(options);
      return isRelease3(source) ? withAsyncSend(component) : component;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  const { componentEmbed, componentNew, parse } = await import("@bytecodealliance/jco");
  if (name.endsWith(".wit"))
    return componentNew(await componentEmbed({ witSource: source, dummy: true, world: "fixture" }), []);
  if (source.includes("\n(component")) return parse(source);
  const world = `package fixture:fixture;
    world fixture {
      import wasi:cli/stdout@0.2.6;
      import wasi:clocks/monotonic-clock@0.2.6;
      import wasi:io/poll@0.2.6;
      import postern:tool/host@0.1.0;
      export postern:tool/tool@0.1.0;
    }
    package wasi:clocks@0.2.6 {
      interface monotonic-clock {
        use wasi:io/poll@0.2.6.{pollable};
        type duration = u64;
        subscribe-duration: func(when: duration) -> pollable;
      }
    }
    package wasi:cli@0.2.6 { interface stdout { use wasi:io/streams@0.2.6.{output-stream}; get-stdout: func() -> output-stream; } }
    package wasi:io@0.2.6 {
      interface streams { resource output-stream; }
      interface poll { resource pollable; poll: func(in: list<borrow<pollable>>) -> list<u32>; }
    }
    ${readFileSync(join(WIT, "tool.wit"), "utf8").replace(/package (.*?);([\s\S]*)/, "package $1 { $2 }")}`;
  return componentNew(
    await componentEmbed({ binary: await parse(source), witSource: world, world: "fixture" }),
    [],
  );
}
