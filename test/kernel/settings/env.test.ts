import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openSession } from "../../../kernel/cli/service/session.ts";
import { readDotEnv } from "../../../kernel/settings/dot-env.ts";
import { Settings } from "../../../kernel/settings/env.ts";
import { temporaryFolder } from "../../support/home.ts";

describe("booleans", () => {
  test.each(["true", "1", "yes", "on", "TRUE", "On"])("%s is true", (word) => {
    expect(new Settings({ F: word }).for("p").flag("F", false)).toBe(true);
  });

  test.each(["false", "0", "no", "off", "No"])("%s is false", (word) => {
    expect(new Settings({ F: word }).for("p").flag("F", true)).toBe(false);
  });

  test("anything else is a problem that shows what was given and what is accepted", () => {
    const settings = new Settings({ F: "maybe" });
    settings.for("p").flag("F", true);
    expect(settings.problems).toEqual([
      { name: "F", given: '"maybe"', accepted: "true/false, 1/0, yes/no, on/off" },
    ]);
  });
});

describe("numbers", () => {
  test.each(["65536", "-1", "80.5", "http", "0x50", "1e3", "8080 "])("port %j", (text) => {
    const settings = new Settings({ P: text });
    settings.for("p").port("P", 1);
    expect(settings.problems.length).toBe(text.trim() === "8080" ? 0 : 1);
  });
});

test.each([
  ...["127.0.0.1", "::1", "0.0.0.0", "fe80::1%eth0", "localhost", "web-1.example.org", "my_box"].map(
    (text) => [text, 0],
  ),
  ...["999.1.1.1", "http://127.0.0.1", "127.0.0.1:80", "[::1]", "no such host", "a..b", "-a"].map((text) => [
    text,
    1,
  ]),
])("the host %j is a problem: %i", (text, count) => {
  const settings = new Settings({ H: String(text) });
  settings.for("p").host("H", "localhost");
  expect(settings.problems.length).toBe(count);
});

test("an empty variable counts as unset", () => {
  expect(new Settings({ P: "" }).for("p").port("P", 7)).toBe(7);
});

test("all problems are told at once, and a secret is never shown", () => {
  const settings = new Settings({ A: "x", B: "ftp://y", S: "hunter2hunter2" });
  const env = settings.for("p");
  env.integer("A", 1, { min: 1, max: 9 });
  env.url("B");
  env.secret("S");
  env.refuse("S", "at least 20 characters");
  expect(() => settings.assertSound()).toThrow(/3 settings are invalid; nothing was started/);
  expect(() => settings.assertSound()).not.toThrow(/hunter2/);
});

test("of a URL everything is shown but its password, which is hidden in the log as written and as meant", () => {
  const hidden: string[] = [];
  const settings = new Settings(
    { A: "postgres://me:p%40ss-word@h/d?sslmode=require&password=other-word", B: "sqlite:///a/b" },
    {},
    (secret) => void hidden.push(secret),
  );
  const env = settings.for("p");
  expect(env.connection("A")).toContain("p%40ss-word");
  expect(env.connection("B")).toBe("sqlite:///a/b");
  env.refuse("A", "something else");
  expect(settings.declared.map(({ value }) => value)).toEqual([
    "postgres://me:***@h/d?sslmode=require&password=***",
    "sqlite:///a/b",
  ]);
  expect(settings.problems[0]?.given).toBe('"postgres://me:***@h/d?sslmode=require&password=***"');
  expect(hidden).toEqual(["p%40ss-word", "p@ss-word", "other-word", "other-word"]);
});

test("so it is with an http URL, also with one that is refused", () => {
  const hidden: string[] = [];
  const given = { A: "https://me:hush-hush@h/v1", B: "ftp://me:hush-hush@h" };
  const settings = new Settings(given, {}, (secret) => hidden.push(secret));
  const env = settings.for("p");
  expect([env.url("A"), env.url("B")]).toEqual(["https://me:hush-hush@h/v1", undefined]);
  expect(settings.declared.map(({ value }) => value)).toEqual(["https://me:***@h/v1", undefined]);
  expect(hidden).toContain("hush-hush");
  expect(settings.problems.map(({ given }) => given)).toEqual(['"ftp://me:***@h"']);
});

test("the real environment wins over .env, and .env over the default", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, ".env"), "A=file\nB='from file'\n# a comment\n");
  const settings = new Settings({ A: "real" }, readDotEnv(folder));
  const env = settings.for("p");
  expect([env.text("A"), env.text("B"), env.text("C", "fallback")]).toEqual([
    "real",
    "from file",
    "fallback",
  ]);
  expect(settings.declared.map(({ name, source }) => [name, source])).toEqual([
    ["A", "environment"],
    ["B", ".env"],
    ["C", "default"],
  ]);
});

test("where the service starts, .env of the folder counts after that of the home", () => {
  const [home, folder] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(home, ".env"), "A=home\nPOSTERN_HOME=/elsewhere\n");
  writeFileSync(join(folder, ".env"), "A=folder\nB=folder\nPLUGINS=./x.js\nXDG_CACHE_HOME=/x\n");
  const read = (startsService: boolean) => {
    const session = openSession({ POSTERN_HOME: home }, folder, { startsService });
    const env = session.settings.for("p");
    const [a, b, caches] = [env.text("A"), env.text("B"), env.text("XDG_CACHE_HOME")];
    return { a, b, caches, plugins: session.plugins, home: session.home };
  };
  expect(read(true)).toEqual({ a: "home", b: "folder", caches: undefined, plugins: [], home });
  expect(read(false)).toEqual({ a: "home", b: undefined, caches: undefined, plugins: [], home });
});

test("a folder without .env reads as an empty one", () => {
  expect(readDotEnv(temporaryFolder())).toEqual({});
});

test("a secret is handed to the mask as soon as it is read", () => {
  const seen: string[] = [];
  new Settings({ S: "value" }, {}, (secret) => void seen.push(secret)).for("p").secret("S");
  expect(seen).toEqual(["value"]);
});
