/** What `wit/globals.d.ts` declares is compared with what the engines have: each declared name is looked up where a tool runs. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stop } from "esbuild";
import { afterAll, expect, onTestFinished, test } from "vitest";
import type { Engine } from "../../host/author/build/engines.ts";
import { createPool } from "../../host/sandbox/pool.ts";
import { ROOT } from "../support/clone.ts";
import { toComponent } from "../support/tools/components.ts";
import { buildOnce, newProject } from "../support/tools/projects.ts";

// The bundler leaves a process running for the next build.
afterAll(() => stop());

const DECLARED = readFileSync(join(ROOT, "wit", "globals.d.ts"), "utf8");
/** Everything below it, and what says so itself. */
const ONLY_SPIDERMONKEY = "None of the following with `--engine quickjs`";
const NOT_QUICKJS = /\/\*\* Not with `--engine quickjs`\. \*\/\n/;

interface Name {
  /** An expression for the object that has it. */
  readonly owner: string;
  readonly name: string;
  readonly isEverywhere: boolean;
}

/** Every global that is declared, and every member of it, those of a class on its prototype. */
function declaredNames(): readonly Name[] {
  const below = DECLARED.indexOf(ONLY_SPIDERMONKEY);
  expect(below).toBeGreaterThan(0);
  const membersOf = (body: string) =>
    [...body.matchAll(/^ {2}(static )?(?:readonly )?(\w+)(?=[<(?:])/gm)].map(([, isStatic, name = ""]) => ({
      isStatic: isStatic !== undefined,
      name,
    }));
  const interfaces = new Map(
    [...DECLARED.matchAll(/^interface (\w+) \{\n([\s\S]*?)^\}/gm)].map(([, name = "", body = ""]) => [
      name,
      body,
    ]),
  );
  const inherited = new Map(
    [...DECLARED.matchAll(/^interface (\w+) extends (\w+) \{\}/gm)].map(([, name, from = ""]) => [
      name,
      from,
    ]),
  );
  const declarations = [
    ...DECLARED.matchAll(
      /^(\/\*\*[^\n]*\*\/\n)?declare (class|function|const) (\w+)([^\n]*?)(?:\{\n([\s\S]*?)^\}|;$|\($)/gm,
    ),
  ];
  return declarations.flatMap(
    ({ index, 1: about = "", 2: kind, 3: global = "", 4: head = "", 5: body = "" }) => {
      const isEverywhere = index < below && !NOT_QUICKJS.test(about);
      const ofInterface = interfaces.get(inherited.get(global) ?? "") ?? "";
      const listed = [...head.matchAll(/"(\w+)"/g)].map(([, name = ""]) => ({ isStatic: true, name }));
      const members = [...membersOf(body), ...membersOf(ofInterface), ...(kind === "const" ? listed : [])];
      const ownerOf = (isStatic: boolean) => (kind === "class" && !isStatic ? `${global}.prototype` : global);
      return [
        { owner: "GLOBAL", name: global, isEverywhere },
        ...members
          .filter(({ name }) => name !== "constructor")
          .map(({ isStatic, name }) => ({ owner: ownerOf(isStatic), name, isEverywhere })),
      ];
    },
  );
}

async function runWith(engine: Engine, file: string, source: string): Promise<unknown> {
  const folder = await newProject(file.endsWith(".ts") ? "ts" : "js", "blank");
  writeFileSync(join(folder, file), source);
  const bytes = readFileSync(await buildOnce(folder, engine));
  const pool = createPool({ size: 1 });
  onTestFinished(() => pool.close());
  const outcome = await pool.call({
    component: toComponent(bytes),
    params: "{}",
    timeoutMs: 60_000,
    http: () => Promise.reject(new Error("no network")),
    secrets: [],
  });
  expect(outcome).toMatchObject({ ok: true });
  return outcome.ok ? JSON.parse(outcome.output) : undefined;
}

test.each(["spidermonkey", "quickjs"] as const)("what is declared is there with %s", async (engine) => {
  const names = declaredNames().filter(({ isEverywhere }) => engine === "spidermonkey" || isEverywhere);
  const count = { spidermonkey: 150, quickjs: 15 }[engine];
  expect(names.length).toBeGreaterThan(count);
  // A global is asked for by its own name: the bundler puts in what the engine lacks.
  const lookups = names.map(({ owner, name }) =>
    owner === "GLOBAL"
      ? `["${name}", () => ${name} !== undefined]`
      : `["${owner}.${name}", () => "${name}" in ${owner}]`,
  );
  const missing = await runWith(
    engine,
    "tool.js",
    `export const tool = {
  description: () => "Looks for names.",
  schema: () => '{"type":"object"}',
  execute() {
    const isThere = (look) => { try { return look(); } catch { return false; } };
    const missing = [${lookups.join(",\n")}].filter(([, look]) => !isThere(look)).map(([name]) => name);
    return { output: JSON.stringify(missing) };
  },
};`,
  );
  expect(missing).toEqual([]);
});

const EVERYWHERE = `
  new TextDecoder().decode(new TextEncoder().encode("é").buffer),
  new TextDecoder("utf-8", { fatal: true }).decode(new DataView(new Uint8Array([104, 105]).buffer, 1)),
  new TextEncoder().encodeInto("aé€", new Uint8Array(4)),
  atob(btoa("x")),`;

const SPIDERMONKEY = `
  new TextDecoder("iso-8859-1").decode(new Uint8Array([104, 0xe9])),
  new TextDecoder("utf-16le").decode(new Uint8Array([104, 0])),
  [...new URLSearchParams(Object.entries({ a: "1", b: "2" }))],
  new URLSearchParams("a=1&b=2").size,
  JSON.stringify(new URL("https://ann@a.test/b")),
  new Headers([["set-cookie", "a=1"]]).getSetCookie(),
  await new Response(new Uint8Array([104]).buffer).text(),
  await new Response(
    new Blob(["text"]).stream().pipeThrough<Uint8Array>(new CompressionStream("gzip")).pipeThrough<Uint8Array>(new DecompressionStream("gzip")),
  ).text(),
  new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array())).length,
  await new Promise<string>((resolve) => void setTimeout((word: string) => resolve(word), 1, "later")),`;

const typed = (expressions: string, isAsync: boolean) => `import type { Tool } from "postern:tool/tool@0.1.0";
export const tool: Tool = {
  description: () => "Uses what the types allow.",
  schema: () => '{"type":"object"}',
  ${isAsync ? "async " : ""}execute() {
    const made: unknown[] = [${expressions}
    ];
    return { output: JSON.stringify(made) };
  },
};
`;

const MADE_EVERYWHERE = ["é", "i", { read: 2, written: 3 }, "x"];

test("what the types allow works with SpiderMonkey", async () => {
  const made = await runWith("spidermonkey", "tool.ts", typed(EVERYWHERE + SPIDERMONKEY, true));
  expect(made).toEqual([
    ...MADE_EVERYWHERE,
    ...[
      "hé",
      "h",
      [
        ["a", "1"],
        ["b", "2"],
      ],
      2,
      '"https://ann@a.test/b"',
      ["a=1"],
      "h",
      "text",
      32,
      "later",
    ],
  ]);
});

test("what the types allow everywhere works with QuickJS", async () => {
  expect(await runWith("quickjs", "tool.ts", typed(EVERYWHERE, false))).toEqual(MADE_EVERYWHERE);
});
