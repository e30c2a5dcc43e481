/** Completion in the shells themselves, which ask `postern complete`. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { BIN } from "../../../support/clone.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { postern } from "../../../support/processes/postern.ts";
import { afterThisFile } from "../../../support/undo.ts";

const later = afterThisFile();
const folder = temporaryFolder(later);
const home = join(folder, "home");
const env = { POSTERN_HOME: home, LOG_LEVEL: "error", MODEL_PROVIDER: "builtin", MEMORY_VECTORS: "false" };

/** What is offered after these words, by name. */
async function offered(...words: string[]): Promise<Record<string, string>> {
  const { code, stdout, stderr } = await postern(["complete", "--", ...words], { env });
  expect([code, stderr]).toEqual([0, ""]);
  return Object.fromEntries(
    stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split("\t") as [string, string]),
  );
}

let thread = "";

beforeAll(async () => {
  await postern(["user", "add", "ann"], { env });
  await postern(["memory", "write", "facts/bike.md"], { env, input: "My bike is red." });
  await postern(["ask", "What is 2 + 3?"], { env, later });
  const { stdout } = await postern(["thread", "list", "--json"], { env });
  thread = JSON.parse(stdout).threads[0].id;
  for (const name of ["weather", "convert"]) mkdirSync(join(home, "tools", name), { recursive: true });
});

test("commands, their verbs and options are offered with what they are for", async () => {
  expect(await offered("doc")).toEqual({ doctor: expect.stringContaining("check everything") });
  expect(Object.keys(await offered("thread", ""))).toEqual(
    expect.arrayContaining(["list", "search", "show", "export", "rename", "remove"]),
  );
  expect(Object.keys(await offered("thread", "list", "--"))).toEqual(
    expect.arrayContaining(["--user", "--limit", "--json", "--home", "--help"]),
  );
  expect(await offered("comp")).not.toHaveProperty("complete");
});

test("names are offered where they fit: tools, users, threads with titles, memory, shells", async () => {
  // What the store has not said soon enough is left out, so a busy machine is asked again.
  const offers = (...words: string[]) => expect.poll(() => offered(...words));
  await offers("tool", "info", "").toEqual({ convert: "", weather: "" });
  await offers("tool", "run", "we").toEqual({ weather: "" });
  expect(await offered("tool", "run", "weather", "")).toEqual({});
  await offers("token", "create", "a").toEqual({ ann: "user" });
  await offers("job", "list", "--user", "").toEqual({ ann: "user", operator: "operator" });
  expect(await offered("user", "add", "")).toEqual({});
  await offers("thread", "export", "").toEqual({ [thread]: "What is 2 + 3?" });
  await offers("ask", "--thread", thread.slice(0, 4)).toHaveProperty([thread]);
  expect(await offered("thread", "show", "--user", "ann", "")).toEqual({});
  await offers("memory", "show", "facts/").toEqual({ "facts/bike.md": "" });
  expect(await offered("completion", "")).toEqual({ bash: "", zsh: "", fish: "" });
  expect(await offered("tool", "new", "--lang", "")).toEqual({
    ...{ ts: "", js: "", rust: "", c: "", python: "", go: "" },
  });
  expect(Object.keys(await offered("config", "get", "GATEWAY_PO"))).toEqual(["GATEWAY_PORT"]);
  expect(await offered("config", "set", "MODEL_N")).toHaveProperty("MODEL_NAME");
  expect(await offered("nonsense", "")).toEqual({});
  await postern(["thread", "remove", thread, "--yes"], { env });
  await offers("thread", "restore", "").toEqual({ [thread]: "What is 2 + 3?" });
  expect(await offered("thread", "show", "")).toEqual({});
});

test("completing makes no home and leaves no file beside the store", async () => {
  const nowhere = join(folder, "nowhere");
  const { stdout } = await postern(["complete", "--", "thread", "show", ""], {
    env: { ...env, POSTERN_HOME: nowhere },
  });
  expect([stdout, readdirSync(folder)]).toEqual(["", ["home"]]);
  const before = readdirSync(home);
  await offered("thread", "show", "");
  expect(readdirSync(home)).toEqual(before);
});

/** The shells find `postern` by its name. */
async function shell(name: "bash" | "zsh" | "fish", typed: (script: string) => string): Promise<string> {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "postern"), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
  chmodSync(join(bin, "postern"), 0o755);
  const { stdout } = await postern(["completion", name], { env });
  const all = { ...env, PATH: `${bin}:${process.env["PATH"]}`, HOME: folder };
  const args = name === "fish" ? ["--no-config", "-c"] : name === "zsh" ? ["-f", "-c"] : ["-c"];
  const ran = spawnSync(name, [...args, typed(stdout)], { encoding: "utf8", env: all });
  return `${ran.stdout}${ran.stderr}`;
}

const has = (name: string) => spawnSync(name, ["--version"]).status === 0;

test("bash takes the script and offers names, quoted so that none of them runs anything", async () => {
  const complete = () =>
    shell(
      "bash",
      (script) =>
        `${script}\nCOMP_WORDS=(postern tool info we); COMP_CWORD=3; _postern; echo "\${COMPREPLY[@]}"
       COMP_WORDS=(postern con); COMP_CWORD=1; _postern; echo "\${COMPREPLY[@]}"`,
    );
  await expect.poll(complete).toBe("weather\nconfig\n");
  await postern(["memory", "write", "plans/$(id).md"], { env, input: "Tuesday." });
  const quoted = () =>
    shell(
      "bash",
      (script) =>
        `${script}\nCOMP_WORDS=(postern memory show plans/); COMP_CWORD=3; _postern; echo "\${COMPREPLY[@]}"`,
    );
  await expect.poll(quoted).toBe("plans/\\$\\(id\\).md\n");
  expect((await postern(["completion", "tcsh"])).code).toBe(2);
});

test.runIf(has("zsh"))("zsh takes the script and offers names with what they are", async () => {
  const complete = () =>
    shell(
      "zsh",
      (script) =>
        `compdef() { : }; _describe() { print -rl -- "\${(@P)3}" }; _files() { print files }\n${script}\nwords=(postern thread show ''); CURRENT=4; _postern`,
    );
  await expect.poll(complete).toBe(`${thread}:What is 2 + 3?\n`);
});

test.runIf(has("fish"))("fish takes the script and offers names with what they are", async () => {
  const complete = () => shell("fish", (script) => `${script}\ncomplete -C 'postern thread show '`);
  await expect.poll(complete).toBe(`${thread}\tWhat is 2 + 3?\n`);
});
