import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { $init, generateTypes } from "@bytecodealliance/jco-transpile/component";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..");

test("wit/guest.d.ts matches what the toolchain generates from wit/tool.wit (update with vitest -u)", async () => {
  await $init;
  const generated = generateTypes("tool", {
    wit: { tag: "source", val: readFileSync(join(ROOT, "wit", "tool.wit"), "utf8") },
    world: "extended-tool",
    features: { tag: "list", val: [] },
    asyncMode: { tag: "sync" },
    guest: true,
    tlaCompat: false,
  });
  const modules = generated
    .filter(([file]) => file.startsWith("interfaces/"))
    .map(([, content]) => new TextDecoder().decode(content));
  const text = [
    "/** The TypeScript types of `tool.wit`. Generated; a test in Postern keeps the two in sync. */\n",
    ...modules,
    `declare module "postern:tool/tool@0.1.0" {
      /** What a tool's module exports as \`tool\`. \`execute\` may be async, except with \`--engine quickjs\`. */
      export type Tool = Omit<typeof import("postern:tool/tool@0.1.0"), "execute"> & {
        execute(request: Request): Response | Promise<Response>;
      };
    }`,
  ].join("\n");
  const formatted = execFileSync(
    join(ROOT, "node_modules", ".bin", "biome"),
    ["check", "--write", "--stdin-file-path=wit/guest.d.ts"],
    { cwd: ROOT, input: text, encoding: "utf8" },
  );
  await expect(formatted).toMatchFileSnapshot(join(ROOT, "wit", "guest.d.ts"));
});
