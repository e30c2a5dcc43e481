/** `node maker.ts <folder> <module beside the toolchain>`: builds the model's script in a process of its own. */
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire, stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { SourceTextModule } from "node:vm";
import { WORLD, writeWit } from "./world.ts";

const SOURCE = "tool.ts";
const OURS = /^postern:tool\/(host|exchange|setting|state|agent-tools|files)@0\.1\.0$/;

const [folder = "", toolchain = ""] = process.argv.slice(2);
const read = (name: string) => readFileSync(join(folder, name), "utf8");

function interfacesIn(script: string): readonly string[] {
  // It is parsed, not linked or run.
  const { moduleRequests } = new SourceTextModule(script, { identifier: SOURCE });
  return moduleRequests.map(({ specifier }) => {
    const [, name] = OURS.exec(specifier) ?? [];
    if (name !== undefined) return name;
    throw new Error(
      `it imports ${JSON.stringify(specifier)}. It is one file, and may import postern:tool/host@0.1.0 and the other interfaces of tool.wit; types are imported with "import type"`,
    );
  });
}

try {
  // Only blanks take the place of types, so every line and column stays where it was.
  const script = stripTypeScriptTypes(read("tool.ts"), { sourceUrl: SOURCE });
  const witPath = join(folder, "world.wit");
  writeFileSync(witPath, writeWit(read("tool.wit"), [...new Set(interfacesIn(script))]));
  const { componentize } = createRequire(toolchain)("componentize-qjs") as typeof import("componentize-qjs");
  const jsSource = `${read("before.js")}${script}\n${read("after.js")}`;
  const { component } = await componentize({ witPath, jsSource, world: WORLD, sync: true });
  writeFileSync(join(folder, "tool.wasm"), component);
} catch (error) {
  const { message = String(error), stack = "" } = error as Partial<Error>;
  // The trace of a syntax error begins with its place.
  const [place] = /^tool\.ts:\d+/.exec(stack) ?? [];
  writeFileSync(join(folder, "problem"), place === undefined ? message : `${place}: ${message}`);
}
