/** A real component that remembers: kept with its output, dropped with its failure, never another user's. */
import { expect, test } from "vitest";
import { openUpstream } from "../support/servers/upstream.ts";
import { fixture } from "../support/tools/components.ts";
import { install, NOTHING, toolHost } from "../support/tools/tool-host.ts";
import { afterThisTest } from "../support/undo.ts";
import { capabilities, open, type Step } from "./remembering-tool.ts";

test("what a call wrote is there for the next one of the same user, and for nobody else", async () => {
  const { host, call } = await open();
  const write: Step[] = [
    ["get", "a"],
    ["set", "a", "Größe"],
    ["get", "a"],
    ["set", "b/1", ""],
  ];
  expect(await call(write)).toEqual([null, null, "Größe", null]);
  const read: Step[] = [
    ["get", "a"],
    ["get", "b/1"],
    ["list", "b/"],
    ["list", ""],
  ];
  expect(await call(read)).toEqual(["Größe", "", ["b/1"], ["a", "b/1"]]);
  expect(await call(read, "bob")).toEqual([null, null, [], []]);
  expect(
    await call([
      ["delete", "a"],
      ["delete", "none"],
      ["list", ""],
    ]),
  ).toEqual([null, null, ["b/1"]]);
  const tool = await host.catalog.find("notes");
  expect(tool?.description).toContain('{"refused":"this tool has no state here"}');
  expect(tool && (await host.describe(tool)).grants).toContain("may remember up to 1 MB for each user");
  await host.remove("notes");
  await install(host, "notes", await fixture("state.js"), capabilities());
  expect(await call([["list", ""]])).toEqual([[]]);
});

test("a call that ends with an error or throws keeps nothing", async () => {
  const { call } = await open();
  await call([["set", "a", "before"]]);
  expect(await call([["set", "a", "after"]], "ada", "No.")).toMatchObject({ code: "tool_error" });
  expect(await call([["set", "a", "after"]], "ada", "throw")).toMatchObject({ code: "threw" });
  expect(await call([["get", "a"]])).toEqual(["before"]);
});

test("bad input is refused in words: at the quota, keys too long or empty", async () => {
  const { call } = await open();
  expect(
    await call([
      ["fill", "a", 999_000],
      ["fill", "b", 2000],
      ["fill", "c", 2 << 20],
      ["set", "", "x"],
      ["get", "k".repeat(257)],
      ["set", "ok", "x"],
    ]),
  ).toEqual([
    null,
    { refused: "the state is full: it may have 1 MB for each user, and would have 1.00 MB" },
    { refused: "a value has at most 1 MiB" },
    { refused: "a key has 1 to 256 bytes" },
    { refused: "a key has 1 to 256 bytes" },
    null,
  ]);
});

test("two calls at once end in a defined way: the last to end wins each key that it wrote", async () => {
  const arrived = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const server = await openUpstream((_, response) => {
    arrived.resolve();
    void go.promise.then(() => response.end());
  });
  afterThisTest(server.close);
  const allowlist = [{ host: "127.0.0.1", path_prefix: "/", methods: ["GET"] }];
  const { call } = await open("state.js", capabilities({ http: { allowlist } }), {
    privateHosts: new Set([`127.0.0.1:${server.port}`]),
  });
  const slow = call([
    ["get", "a"],
    ["set", "a", "slow"],
    ["wait", `http://127.0.0.1:${server.port}/`],
    ["get", "b"],
  ]);
  await arrived.promise;
  await call([
    ["set", "a", "quick"],
    ["set", "b", "quick"],
  ]);
  expect(await call([["get", "a"]])).toEqual(["quick"]);
  go.resolve();
  expect(await slow).toEqual([null, null, 200, null]);
  expect(
    await call([
      ["get", "a"],
      ["get", "b"],
    ]),
  ).toEqual(["slow", "quick"]);
});

test("a component that remembers and whose file does not say so is refused", async () => {
  const host = await toolHost();
  for (const [name, imported] of [
    ["state.js", "postern:tool/state@0.1.0"],
    ["keyvalue.js", "wasi:keyvalue/store@0.2.0-draft"],
  ] as const)
    await expect(host.examine(await fixture(name), NOTHING)).rejects.toMatchObject({
      code: "foreign_import",
      message: expect.stringContaining(`${imported}, and its capabilities file does not ask for state`),
    });
});

test("a recording is played with the state of its call, and changes nothing", async () => {
  const { host, call } = await open();
  await call([["set", "a", "kept"]]);
  const candidate = await host.examine(await fixture("state.js"), capabilities());
  const play = async (state: unknown) => {
    const params = {
      steps: [
        ["set", "b", "x"],
        ["wait", "https://a.test/"],
      ],
    };
    const text = JSON.stringify({ params, state, exchanges: [] });
    const [answered] = await host.replay(candidate, [{ name: "a.json", text }]);
    return answered;
  };
  expect(await play({ a: { body: "recorded" }, b: { body_base64: "/w==" } })).toMatchObject({ ok: true });
  expect(await play({ a: "recorded" })).toMatchObject({
    ok: false,
    detail: expect.stringContaining("its state is not an object of keys"),
  });
  expect(await call([["list", ""]])).toEqual([["a"]]);
});

test("a guest that imports the draft of wasi:keyvalue has the same state", async () => {
  const { call } = await open("keyvalue.js");
  const refused = [{ tag: "no-such-store" }, { tag: "other", val: "a key has 1 to 256 bytes" }];
  const rest = { keys: ["count"], cursor: null, refused };
  expect(await call([])).toEqual({ before: [false, null], after: "1", ...rest });
  expect(await call([])).toEqual({ before: [true, "1"], after: "2", ...rest });
});
