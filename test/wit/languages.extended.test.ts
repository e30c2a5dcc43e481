/** Runs the page of tools in C, Python and Go, each part where its compiler is installed. */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ToolRequest } from "../../host/broker/grant.ts";
import { openCallState } from "../../host/calls/state.ts";
import { createPool, type PoolCall } from "../../host/sandbox/pool.ts";
import type { Component } from "../../host/sandbox/processes.ts";
import { temporaryFolder } from "../support/home.ts";
import { typeLines, typePage } from "../support/processes/page.ts";
import { postern } from "../support/processes/postern.ts";
import { describeWhere } from "../support/run/needs.ts";
import { toComponent } from "../support/tools/components.ts";
import { askForSettingAndState, newProject, pathWithPostern } from "../support/tools/projects.ts";

const WIT = new URL("../../wit/", import.meta.url);
const PAGE = readFileSync(new URL("languages.md", WIT), "utf8");
const sectionOf = (language: string) =>
  PAGE.split(/^## /m).find((part) => part.startsWith(`${language}\n`)) ?? "";

const runs = (program: string, ...args: readonly string[]) => spawnSync(program, args).status === 0;

const describeC = describeWhere(
  spawnSync("clang", ["--target=wasm32-wasi", "-mexec-model=reactor", "-x", "c", "-", "-o", "/dev/null"], {
    input: "#include <stdio.h>\n",
  }).status === 0,
  "clang for WebAssembly (apt-get install clang lld wasi-libc libclang-rt-14-dev-wasm32, with clang's version for 14)",
);
const describePython = describeWhere(
  runs("componentize-py", "--version"),
  "componentize-py (pip install componentize-py==0.25.0)",
);
const describeGo = describeWhere(
  runs("componentize-go", "--version") && runs("go", "version"),
  "Go 1.25 and componentize-go 0.3.4 (https://github.com/bytecodealliance/componentize-go/releases)",
);
const describePython3 = describeWhere(runs("python3", "--version"), "python3");

function authorIn(folder: string) {
  return {
    PATH: pathWithPostern(folder),
    HOME: folder,
    POSTERN_HOME: join(folder, "home"),
    TOOLS_SHIPPED: "false",
  };
}

test("the C bindings have exactly the contract's functions and version", () => {
  const wit = readFileSync(new URL("tool.wit", WIT), "utf8");
  const bindings = readFileSync(new URL("templates/c/postern/postern.c", WIT), "utf8");
  const [, version] = /^package postern:tool@(.*);/m.exec(wit) ?? [];
  const functionsOf = (name: string) => {
    const [, body = ""] = new RegExp(`^interface ${name} \\{\n([\\s\\S]*?)^\\}`, "m").exec(wit) ?? [];
    return [...body.matchAll(/^ {2}([a-z-]+): func/gm)].map(([, own = ""]) => own).sort();
  };
  const namesIn = (pattern: RegExp) => [...bindings.matchAll(pattern)].map(([, name]) => name).sort();
  expect(namesIn(new RegExp(`EXPORT\\("postern:tool/tool@${version}#(.*?)"\\)`, "g"))).toEqual(
    functionsOf("tool"),
  );
  expect(bindings).toContain(`import_module("postern:tool/" interface "@${version}")`);
  for (const name of ["host", "setting", "state"])
    expect(namesIn(new RegExp(`IMPORT\\("${name}", "(.*?)"\\)`, "g"))).toEqual(functionsOf(name));
});

test.each([
  ["python", "componentize-py", "pip install componentize-py=="],
  ["go", "componentize-go", "https://go.dev/dl"],
  ["c", "clang", "apt-get install clang lld wasi-libc"],
] as const)("a missing compiler of %s is reported with what installs it", async (lang, program, how) => {
  const folder = await newProject(lang, "blank");
  const env = { PATH: temporaryFolder(), POSTERN_HOME: join(folder, "home") };
  const { code, stderr } = await postern(["tool", "build", folder], { env });
  expect(code).toBe(1);
  expect(stderr).toContain(`the tool cannot be built here: ${program} cannot be run. `);
  expect(stderr).toContain(how);
});

// One folder for all tests.
describeC("a tool in C", () => {
  let folder = "";
  let env: Record<string, string> = {};
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "postern-c-"));
    env = authorIn(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function build(name: string, edit: (source: string) => string, declare?: (project: string) => void) {
    await postern(["tool", "new", name, "--lang", "c"], { cwd: folder, env });
    declare?.(join(folder, name));
    const source = join(folder, name, "tool.c");
    writeFileSync(source, edit(readFileSync(source, "utf8")));
    const made = await postern(["tool", "build", name, "--json"], { cwd: folder, env });
    return { ...made, component: join(folder, name, "dist", `${name}.wasm`) };
  }

  test("the page's commands print what the page shows", async () => {
    await typePage(sectionOf("C"), folder, env);
  });

  test.each(["blank", "auth"])(
    "the template %s is built without a warning and passes the check",
    async (template) => {
      expect(
        (
          await postern(["tool", "new", template, "--lang", "c", "--template", template], {
            cwd: folder,
            env,
          })
        ).code,
      ).toBe(0);
      const [built, checked] = await typeLines(
        ["postern tool build .", "postern tool check ."],
        join(folder, template),
        env,
      );
      expect(built).not.toContain("warning");
      // How long a start takes is up to the machine.
      expect(checked).not.toMatch(/^(?:FAIL|WARN(?! +start ))/m);
      expect(checked).toMatch(/^ok +(example|repositories)\.json[\s\S]* can be installed[.;]/m);
    },
  );

  test("compiler errors show the author's lines", async () => {
    const { code, stderr } = await build("mistaken", (source) =>
      source.replace("const char *tool_schema(void) {", '$&\n  int many = "a" * 2;'),
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/not built, 1 mistake:\n {2}tool\.c:\d+:\d+: invalid operands/);
  });

  test("sources without the tool's functions are an error that names what is missing", async () => {
    const { code, stderr } = await build("empty", () => "");
    expect(code).toBe(1);
    expect(stderr).toMatch(/undefined symbol: tool_execute[\s\S]*not built: see clang's output above/);
  });

  describe("that uses all of the bindings", () => {
    const pool = createPool({ size: 1 });
    afterAll(() => pool.close());

    let built: Promise<Component> | undefined;
    const buildProber = async () => {
      const prober = new URL("../fixtures/components/c/prober.c", import.meta.url);
      const { code, stderr, component } = await build(
        "prober",
        () => readFileSync(prober, "utf8"),
        askForSettingAndState,
      );
      expect(code, stderr).toBe(0);
      return toComponent(readFileSync(component));
    };
    const call = async (params: object, http?: PoolCall["http"]) => {
      built ??= buildProber();
      return pool.call({
        component: await built,
        params: JSON.stringify(params),
        timeoutMs: 60_000,
        http: http ?? (async () => ({ ok: false, error: "nobody is there" })),
        secrets: ["known"],
        state: openCallState(1, async () => new Map([["old", Buffer.from([1, 2])]])).answer,
        settings: { greeting: "Grüß dich" },
      });
    };
    const answer = async (params: object, http?: PoolCall["http"]) => {
      const outcome = await call(params, http);
      expect(outcome).toMatchObject({ ok: true });
      return JSON.parse(outcome.ok ? outcome.output : "");
    };

    test("it sends requests and reads responses and refusals", async () => {
      const seen: ToolRequest[] = [];
      const reply = (status: number, body: Uint8Array) => async (request: ToolRequest) => {
        seen.push(request);
        return { ok: true, status, body } as const;
      };
      expect(await answer({}, reply(200, Buffer.from("Größe 🎉")))).toEqual([200, 12, "Größe 🎉"]);
      expect(await answer({ act: "post", text: '{"A":"ä"}' }, reply(404, new Uint8Array()))).toEqual([
        404,
        0,
        "",
      ]);
      expect(seen).toMatchObject([
        { method: "GET", headersJson: "{}", body: undefined, timeoutMs: undefined },
        { method: "POST", headersJson: '{"A":"ä"}', body: Uint8Array.of(0, 255), timeoutMs: 7 },
      ]);
      expect(await call({})).toMatchObject({ code: "tool_error", message: "nobody is there" });
    });

    test("it can read the time, check for secrets, read settings, log, print and remember", async () => {
      const before = Math.floor(Date.now() / 1000);
      expect(await answer({ act: "time" })).toSatisfy((time) => time >= before && time <= Date.now() / 1000);
      expect(await answer({ act: "secret", text: "known" })).toBe(true);
      expect(await answer({ act: "secret", text: "" })).toBe(false);
      expect(await answer({ act: "setting", text: "greeting" })).toBe("Grüß dich");
      expect(await answer({ act: "setting", text: "other" })).toBeNull();
      expect((await call({ act: "log", text: "ß" })).logs).toEqual(
        ["trace", "debug", "info", "warn", "error"].map((level) => ({ level, message: "ß" })),
      );
      expect((await call({ act: "print", text: "said aloud" })).logs).toEqual([
        { level: "info", message: "said aloud" },
      ]);
      expect(await answer({ act: "state", text: "old" })).toEqual([
        2,
        "new",
        null,
        ["old"],
        "a key has 1 to 256 bytes",
      ]);
      expect(await answer({ act: "state", text: "é" })).toMatchObject({ 0: 0, 1: "new", 3: ["old", "é"] });
    });

    test("its JSON is read and written as it should be", async () => {
      for (const text of ["", 'a "b" \\ / \n \t \u0001', "Grüße 🎉 \u2028", "x".repeat(100_000)])
        expect(await answer({ act: "text", text })).toBe(text);
      expect(await answer({ items: [{ a: [1, "]"] }, null, -1.5e3], act: "item" })).toBe(-1500);
      expect(await answer({ items: [], act: "item" })).toBe(-1);
      expect(await answer({ items: "none", act: "item" })).toBe(-1);
    });

    test("a crash fails its call only, and no call sees what another wrote", async () => {
      expect([await answer({ act: "count" }), await answer({ act: "count" })]).toEqual([1, 1]);
      expect(await call({ act: "abort" })).toMatchObject({ ok: false });
      expect(await call({ act: "overfill" })).toMatchObject({ ok: false });
      expect(await answer({ act: "count" })).toBe(1);
    });
  });
});

describePython("a tool in Python", () => {
  test("the page's commands print what the page shows", async () => {
    const folder = temporaryFolder();
    // The compiler that is installed is the one to try.
    const page = sectionOf("Python").replaceAll(/^(?:python3 -m venv|pip install).*\n/gm, "");
    await typePage(page, folder, authorIn(folder));
  });
});

describePython3("the Python templates", () => {
  const STUBS: Readonly<Record<string, string>> = {
    "componentize_py_types.py": "class Err(Exception):\n    def __init__(self, value): self.value = value\n",
    "wit_world/__init__.py": "",
    "wit_world/exports/__init__.py": "class Tool: pass\n",
    "wit_world/exports/tool.py":
      "from dataclasses import dataclass\nfrom typing import Optional\n@dataclass\nclass Request:\n    params: str\n@dataclass\nclass Response:\n    output: Optional[str]\n    error: Optional[str]\n",
    "wit_world/imports/__init__.py": "",
    "wit_world/imports/host.py": `import json, os
from enum import Enum
from types import SimpleNamespace
from componentize_py_types import Err
class Level(Enum):
    TRACE, DEBUG, INFO, WARN, ERROR = range(5)
def log(level, message): assert isinstance(level, Level)
def http_request(method, url, headers_json, body, timeout_ms):
    reply = json.loads(os.environ["REPLY"])
    if reply is None: raise Err("nobody is there")
    return SimpleNamespace(status=200, body=json.dumps(reply).encode())
`,
  };
  const RUN = `import json, sys
from tool import Tool
from wit_world.exports.tool import Request
json.loads(Tool().schema())
answer = Tool().execute(Request(sys.argv[1]))
print(json.dumps([answer.output and json.loads(answer.output), answer.error]))
`;

  test.each([
    ["blank", { text: "Hello" }, null, [{ text: "Hello" }, null]],
    ["blank", [], null, [null, "Give 'text'."]],
    ["http", {}, null, [null, "Give 'date' or 'country'."]],
    ["http", { country: "DE" }, null, [null, "nobody is there"]],
    ["http", { country: "DE" }, [], [null, "No public holidays found for DE."]],
    ["http", { country: "DE" }, [{ date: "1970-01-01", name: "Day" }], [{ name: "Day" }, null]],
    ["auth", {}, [{ full_name: "a/b", html_url: "u", pushed_at: "p" }], [[{ name: "a/b" }], null]],
  ])("%s is plain Python: %j", (template, params, reply, expected) => {
    const folder = temporaryFolder();
    cpSync(new URL(`templates/${template}/tool.py`, WIT), join(folder, "tool.py"));
    for (const [path, text] of Object.entries({ ...STUBS, "run.py": RUN })) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const env = { ...process.env, REPLY: JSON.stringify(reply) };
    const said = execFileSync("python3", ["run.py", JSON.stringify(params)], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    expect(JSON.parse(said)).toMatchObject(expected);
  });
});

describeGo("a tool in Go", () => {
  test("the page's commands print what the page shows", async () => {
    const folder = temporaryFolder();
    await typePage(sectionOf("Go"), folder, authorIn(folder));
  });
});
