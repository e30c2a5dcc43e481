/** Runs the Rust part of the authors' page, and covers errors that Rust authors may see. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ToolRequest } from "../../host/broker/grant.ts";
import { filesIn } from "../../host/calls/files/sources.ts";
import { type CallFiles, openCallFiles } from "../../host/calls/files.ts";
import { openCallState } from "../../host/calls/state.ts";
import { createPool, type PoolCall } from "../../host/sandbox/pool.ts";
import type { Component } from "../../host/sandbox/processes.ts";
import { typeLines, typePage } from "../support/processes/page.ts";
import { postern } from "../support/processes/postern.ts";
import { toComponent, wasiPackage } from "../support/tools/components.ts";
import { askForSettingAndState } from "../support/tools/projects.ts";
import { describeRust, pathTo, rustEnvironment } from "../support/tools/rust.ts";

const WIT = new URL("../../wit/", import.meta.url);
const [, PAGE = ""] = readFileSync(new URL("README.md", WIT), "utf8").split("## Write a tool in Rust");
const PROBER = new URL("../fixtures/components/rust/prober.rs", import.meta.url);
const FETCHER = new URL("../fixtures/components/rust/fetcher.rs", import.meta.url);

test("the Rust bindings have exactly the contract's functions and version", () => {
  const wit = readFileSync(new URL("tool.wit", WIT), "utf8");
  const bindings = readFileSync(new URL("templates/rust/src/bindings.rs", WIT), "utf8");
  const [, version] = /^package postern:tool@(.*);/m.exec(wit) ?? [];
  const functionsOf = (name: string) => {
    const [, body = ""] = new RegExp(`^interface ${name} \\{\n([\\s\\S]*?)^\\}`, "m").exec(wit) ?? [];
    return [...body.matchAll(/^ {2}([a-z-]+): func/gm)].map(([, own = ""]) => own).sort();
  };
  const exported = [...bindings.matchAll(/export_name = "postern:tool\/tool@(.*?)#(.*?)"/g)];
  expect(exported.map(([, its]) => its)).toEqual([version, version, version]);
  expect(exported.map(([, , name]) => name).sort()).toEqual(functionsOf("tool"));
  const [, block = ""] =
    new RegExp(`"postern:tool/host@${version}"\\)\\]\\s*extern "C" \\{([\\s\\S]*?)\n {4}\\}`).exec(
      bindings,
    ) ?? [];
  const imported = [...block.matchAll(/pub fn (\w+)/g)].map(([, name = ""]) => name.replaceAll("_", "-"));
  expect(imported.sort()).toEqual(functionsOf("host"));
  expect(bindings).toContain(`"postern:tool/setting@${version}"`);
  expect(functionsOf("setting")).toEqual(["setting"]);
  const [, remembering = ""] =
    new RegExp(`"postern:tool/state@${version}"\\)\\]\\s*extern "C" \\{([\\s\\S]*?)\n {4}\\}`).exec(
      bindings,
    ) ?? [];
  const linked = [...remembering.matchAll(/link_name = "(.*?)"/g)].map(([, name]) => name);
  expect(linked.sort()).toEqual(functionsOf("state"));
});

// One folder for all tests, so that cargo compiles the crates only once.
describeRust("a tool in Rust", () => {
  let folder = "";
  let env: Record<string, string> = {};

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "postern-rust-"));
    env = { ...rustEnvironment(folder), HOME: folder, POSTERN_HOME: join(folder, "home") };
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Creates a project, with the template's source changed by `edit`. */
  async function project(name: string, edit: (source: string) => string) {
    expect((await postern(["tool", "new", name, "--lang", "rust"], { cwd: folder, env })).stderr).toBe("");
    const source = join(folder, name, "src", "lib.rs");
    writeFileSync(source, edit(readFileSync(source, "utf8")));
    return {
      component: join(folder, name, "dist", `${name}.wasm`),
      build: (more: Record<string, string> = {}) =>
        postern(["tool", "build", name, "--json"], { cwd: folder, env: { ...env, ...more } }),
    };
  }

  test("the page's commands print what the page shows", async () => {
    await typePage(PAGE, folder, { ...env, TOOLS_SHIPPED: "false" });
  });

  test.each(["blank", "auth"])(
    "the template %s is built, passes its tests and the check",
    async (template) => {
      const args = ["new", template, "--lang", "rust", "--template", template];
      expect((await postern(["tool", ...args], { cwd: folder, env })).code).toBe(0);
      const commands = ["cargo test", "postern tool build .", "postern tool check ."];
      const [tested, , checked] = await typeLines(commands, join(folder, template), env);
      expect(tested).toContain("test result: ok. 1 passed");
      expect(tested).not.toContain("warning");
      // How long a start takes is up to the machine.
      expect(checked).not.toMatch(/^(?:FAIL|WARN(?! +start ))/m);
      expect(checked).toMatch(/^ok +(example|repositories)\.json[\s\S]* can be installed[.;]/m);
    },
  );

  test("compiler errors show the author's lines, and nothing is left behind", async () => {
    const { build, component } = await project("mistaken", (source) =>
      source.replace(
        "    fn schema() -> String {",
        '    fn schema() -> String {\n        let _: i64 = "many";',
      ),
    );
    const { code, stderr } = await build();
    expect(stderr).toMatch(/\n +--> src\/lib\.rs:18:22\n/);
    expect(stderr).toMatch(/not built, 1 mistake:\n {2}src\/lib\.rs:18:22: mismatched types: expected `i64`/);
    expect([code, existsSync(component)]).toEqual([1, false]);
  });

  test("a missing part of Rust is reported with the command that installs it", async () => {
    const { build } = await project("poor", (source) => source);
    const errorsWith = async (programs: Readonly<Record<string, string>>) =>
      (await build({ PATH: pathTo(programs) })).stderr;
    expect(await errorsWith({ rustc: "--sysroot=/nowhere" })).toMatch(
      /not its target wasm32-unknown-unknown: rustup target add wasm32-unknown-unknown \(on Debian: apt-get/,
    );
    expect(await errorsWith({ rustc: "" })).toMatch(
      /cargo cannot be run.*rustup\.rs, then: rustup target add/,
    );
    expect(await errorsWith({ rustc: "", cargo: "" })).toContain(
      "its linker is missing. On Debian: apt-get install lld",
    );
  });

  test("a crate that exports no tool, or is not a cdylib, is an error", async () => {
    const { build } = await project("empty", () => "mod bindings;\n");
    expect((await build()).stderr).toMatch(/does not match wit\/tool.wit: .*`execute`.*bindings::export!/);
    const manifest = join(folder, "empty", "Cargo.toml");
    const text = readFileSync(manifest, "utf8");
    writeFileSync(manifest, text.replace('crate-type = ["cdylib"]', ""));
    expect((await build()).stderr).toContain('not built: Cargo.toml must say crate-type = ["cdylib"]');
    writeFileSync(manifest, "[package]\n");
    expect((await build()).stderr).toMatch(
      /failed to parse manifest[\s\S]*not built: see cargo.s output above/,
    );
  });

  describe("that uses all of the bindings", () => {
    const pool = createPool({ size: 1 });
    afterAll(() => pool.close());

    let built: Promise<Component> | undefined;
    const buildProber = async () => {
      const prober = await project("prober", () => readFileSync(PROBER, "utf8"));
      askForSettingAndState(join(folder, "prober"));
      const { code, stdout, stderr } = await prober.build();
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ file: prober.component, language: "rust", engine: null });
      return toComponent(readFileSync(prober.component));
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
      expect(await answer({}, reply(200, Buffer.from("Größe 🎉")))).toEqual([200, "Größe 🎉"]);
      expect(await answer({ act: "post", text: '{"A":"ä"}' }, reply(404, new Uint8Array()))).toEqual([
        404,
        [],
      ]);
      expect(seen).toEqual([
        {
          method: "GET",
          url: "https://example.com/",
          headersJson: "{}",
          body: undefined,
          timeoutMs: undefined,
        },
        {
          method: "POST",
          url: "https://example.com/",
          headersJson: '{"A":"ä"}',
          body: Uint8Array.of(0, 255),
          timeoutMs: 7,
        },
      ]);
      expect(await call({})).toMatchObject({ code: "tool_error", message: "nobody is there" });
    });

    test("it can read the time, get random numbers, check for secrets, read settings and log", async () => {
      const before = Date.now();
      expect(await answer({ act: "time" })).toSatisfy((time) => time >= before && time <= Date.now());
      const drawn = [...(await answer({ act: "random" })), ...(await answer({ act: "random" }))];
      expect(new Set(drawn).size).toBe(4);
      expect(await answer({ act: "secret", text: "known" })).toBe(true);
      expect(await answer({ act: "secret", text: "" })).toBe(false);
      expect(await answer({ act: "setting", text: "greeting" })).toBe("Grüß dich");
      expect(await answer({ act: "setting", text: "other" })).toBeNull();
      const { logs } = await call({ act: "log", text: "ß" });
      expect(logs).toEqual(
        ["trace", "debug", "info", "warn", "error"].map((level) => ({ level, message: "ß" })),
      );
    });

    test("it remembers", async () => {
      expect(await answer({ act: "state", text: "old" })).toEqual([
        [1, 2],
        "new",
        null,
        ["old"],
        "a key has 1 to 256 bytes",
      ]);
      expect(await answer({ act: "state", text: "é" })).toMatchObject({ 0: null, 1: "new", 3: ["old", "é"] });
    });

    test("a panic fails its call with its message and line, and the next call works", async () => {
      const outcome = await call({ act: "panic", text: "a flood" });
      expect(outcome).toMatchObject({ ok: false, code: "threw", logs: [{ level: "error" }] });
      const { message } = outcome as { readonly message: string };
      expect(message).toMatch(/^The tool threw: panicked at .*the worst happened: "a flood"/s);
      expect(message).toContain("src/lib.rs:29:");
      expect(await answer({ act: "count" })).toBe(1);
    });

    test("no call sees what another wrote, even after memory grew or ran out", async () => {
      expect([await answer({ act: "count" }), await answer({ act: "count" })]).toEqual([1, 1]);
      expect(await answer({ act: "fill" })).toBe(30 << 20);
      expect(await call({ act: "overfill" })).toMatchObject({ ok: false });
      expect(await call({ act: "recurse" })).toMatchObject({ ok: false, code: "trap" });
      const { memoryPeakBytes, ...outcome } = await call({ act: "count" });
      expect(outcome).toMatchObject({ ok: true, output: "1" });
      expect(memoryPeakBytes).toBeLessThan(2 << 20);
    });
  });

  test("with wasi = true the standard library has a clock and randomness", async () => {
    const { component, build } = await project("standard", (source) =>
      source.replace(
        /fn execute\(params: &str\) -> Result<String, String> \{/,
        `$&
        if params.contains("now") {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            println!("said aloud");
            return Ok(now.as_millis().to_string());
        }`,
      ),
    );
    const manifest = join(folder, "standard", "Cargo.toml");
    writeFileSync(manifest, `${readFileSync(manifest, "utf8")}\n[package.metadata.postern]\nwasi = true\n`);
    const { code, stderr } = await build();
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/--target wasm32-wasi/);
    const pool = createPool({ size: 1 });
    onTestFinished(() => pool.close());
    const before = Date.now();
    const outcome = await pool.call({
      component: toComponent(readFileSync(component)),
      params: '{"date":"now"}',
      timeoutMs: 60_000,
      http: async () => ({ ok: false, error: "nobody is there" }),
      secrets: [],
    });
    expect(outcome).toMatchObject({ ok: true, logs: [{ level: "info", message: "said aloud" }] });
    expect(Number(outcome.ok && outcome.output)).toSatisfy(
      (time: number) => time >= before && time <= Date.now(),
    );
  });

  test("with wasi = true the standard library has the folders that were granted, and no others", async () => {
    const { component, build } = await project("reader", (source) =>
      source
        .replace(
          /fn execute\(params: &str\) -> Result<String, String> \{/,
          `$&
        if params.contains("files") {
            return files().map_err(|error| format!("{error:?}"));
        }`,
        )
        .concat(`
fn files() -> std::io::Result<String> {
    use std::{fs, io::{Read, Seek, SeekFrom, Write}};
    let kind = |outcome: std::io::Result<()>| outcome.map_err(|error| format!("{:?}", error.kind()));
    let mut names: Vec<String> = fs::read_dir("/reports")?
        .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
        .collect::<Result<_, _>>()?;
    names.sort();
    let text = fs::read_to_string("/reports/may.csv")?;
    let size = fs::metadata("/reports/large")?.len();
    let whole = fs::read("/reports/large")?;
    let sum = whole.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    fs::create_dir_all("/output/a/b")?;
    fs::write("/output/a/b/copy", &whole)?;
    let mut file = fs::OpenOptions::new().read(true).write(true).open("/output/a/b/copy")?;
    file.seek(SeekFrom::Start(1))?;
    file.write_all(b"changed")?;
    file.seek(SeekFrom::Start(0))?;
    let mut start = [0; 9];
    file.read_exact(&mut start)?;
    drop(file);
    fs::rename("/output/a/b/copy", "/output/a/moved")?;
    fs::remove_dir("/output/a/b")?;
    let mut added = fs::OpenOptions::new().append(true).create(true).open("/output/log")?;
    writeln!(added, "one")?;
    writeln!(added, "two")?;
    drop(added);
    let log = fs::read_to_string("/output/log")?;
    let outside = [
        kind(fs::read("/secret").map(drop)),
        kind(fs::read("/reports/../secret").map(drop)),
        kind(fs::read("/etc/passwd").map(drop)),
        kind(fs::write("/reports/may.csv", "x")),
        kind(fs::remove_file("/reports/may.csv")),
        kind(fs::read("/reports/none").map(drop)),
    ];
    Ok(serde_json::json!([names, text, size, sum, start, log, outside]).to_string())
}
`),
    );
    const manifest = join(folder, "reader", "Cargo.toml");
    writeFileSync(manifest, `${readFileSync(manifest, "utf8")}\n[package.metadata.postern]\nwasi = true\n`);
    const { code, stderr } = await build();
    expect(code, stderr).toBe(0);
    const pool = createPool({ size: 1 });
    onTestFinished(() => pool.close());
    const granted = [
      { path: "/reports", access: "read" },
      { path: "/output", access: "write" },
    ] as const;
    const large = Buffer.alloc(3_000_000, 1);
    const there = new Map<string, Uint8Array>([
      ["/reports/may.csv", Buffer.from("a;b")],
      ["/reports/large", large],
      ["/secret", Buffer.from("kept")],
    ]);
    const bytes = readFileSync(component);
    const run = async (files: CallFiles | undefined, preopens: typeof granted | []) => {
      const outcome = await pool.call({
        component: toComponent(bytes, 64, preopens),
        params: '{"date":"files"}',
        timeoutMs: 60_000,
        http: async () => ({ ok: false, error: "nobody is there" }),
        secrets: [],
        files: files?.answer,
      });
      return outcome.ok ? JSON.parse(outcome.output) : outcome;
    };
    const files = openCallFiles("ada", granted, filesIn(there));
    onTestFinished(files.close);
    expect(await run(files, granted)).toEqual([
      ["large", "may.csv"],
      "a;b",
      3_000_000,
      3_000_000,
      [1, ...Buffer.from("changed"), 1],
      "one\ntwo\n",
      [...Array.from({ length: 5 }, () => ({ Err: expect.any(String) })), { Err: "NotFound" }],
    ]);
    expect(files.edits().map((edit) => [edit.op, edit.path])).toEqual([
      ["folder", "/output/a/b"],
      ["write", "/output/a/b/copy"],
      ["move", "/output/a/b/copy"],
      ["remove", "/output/a/b"],
      ["write", "/output/log"],
    ]);
    expect(await run(undefined, [])).toMatchObject({ ok: false, code: "tool_error" });
  });

  test("one that sends its requests by wasi:http works, and they are under way together", async () => {
    const { component, build } = await project("fetcher", () => readFileSync(FETCHER, "utf8"));
    const wit = join(folder, "fetcher", "wit", "rust.wit");
    const world = readFileSync(wit, "utf8").replace(
      /(?=\n\})/,
      "\n  import wasi:http/outgoing-handler@0.2.12;",
    );
    writeFileSync(wit, [world, ...["http", "io", "clocks"].map((name) => wasiPackage(name))].join("\n"));
    const { code, stderr } = await build();
    expect(code, stderr).toBe(0);
    const pool = createPool({ size: 1 });
    onTestFinished(() => pool.close());

    const asked: ToolRequest[] = [];
    const all = Promise.withResolvers<void>();
    const urls = ["https://api.test/a?b", "https://api.test/large", "https://evil.test/"];
    const requests = [
      ...urls.map((url) => ({ url })),
      { url: "http://api.test/post", body: "ä".repeat(9000) },
    ];
    const outcome = await pool.call({
      component: toComponent(readFileSync(component)),
      params: JSON.stringify({ requests }),
      timeoutMs: 60_000,
      async http(request) {
        asked.push(request);
        if (asked.length === requests.length) all.resolve();
        await all.promise;
        if (request.url.includes("evil")) return { ok: false, error: "evil.test is not allowed" };
        const body = request.url.includes("large") ? Buffer.alloc(3 << 20, "x") : Buffer.from("Größe");
        return { ok: true, status: 201, headers: [["x-answer", "yes"]], body };
      },
      secrets: [],
    });
    expect(outcome).toMatchObject({ ok: true });
    const answer = { status: 201, header: "yes", body: "Größe" };
    expect(JSON.parse(outcome.ok ? outcome.output : "")).toEqual([
      answer,
      { ...answer, body: 3 << 20 },
      { error: "evil.test is not allowed" },
      answer,
    ]);
    const headersJson = '{"x-rust":"yes"}';
    const timeoutMs = undefined;
    expect(asked.find(({ url }) => url.endsWith("?b"))).toEqual({
      method: "GET",
      url: "https://api.test/a?b",
      headersJson,
      body: undefined,
      timeoutMs,
    });
    const posted = asked.find(({ method }) => method === "POST");
    expect(posted).toMatchObject({ url: "http://api.test/post", headersJson });
    expect(Buffer.from(posted?.body ?? []).toString()).toBe("ä".repeat(9000));
  });
});
