import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { declarations, inspect, transpile, WIT_VERSION } from "../../../host/compile/component.ts";
import { WASI_0_3 } from "../../../host/compile/wasi-0.3.ts";
import { fixture, wasiPackage } from "../../support/tools/components.ts";

const refusal = (code: string, words: string) => ({
  kind: "invalid",
  code,
  message: expect.stringContaining(words),
});

describe("inspecting a component", () => {
  test("it tells imports, exports and the WIT version before anything runs", async () => {
    const info = await inspect(await fixture("echo.js"));
    expect(info.witVersion).toBe("0.1.0");
    expect(info.exports).toContain("postern:tool/tool@0.1.0");
    expect(info.imports).toContain("postern:tool/host@0.1.0");
    expect(info.imports).toContainEqual(expect.stringMatching(/^wasi:clocks\/wall-clock@0\.2\./));
  });

  test("the version it accepts is the one of wit/tool.wit", () => {
    const wit = readFileSync(join(import.meta.dirname, "..", "..", "..", "wit", "tool.wit"), "utf8");
    expect(wit).toContain(`package postern:tool@${WIT_VERSION};`);
  });

  test.each([
    ["incoming-http.wit", "wasi:http/incoming-handler@0.2.6, and a tool can send requests"],
    ["incoming-http-3.wit", "wasi:http/handler@0.3.0, and a tool can send requests"],
    ["wasi-3-draft.wit", "wasi:http/client@0.3.0-rc-2025-09-16, and this host provides WASI 0.3 of it only"],
    ["unknown-import.wit", "acme:shell/run@1.0.0"],
    ["unknown-function.wit", "imports run"],
  ])("§4.4 a foreign import is refused by name: %s", async (name, words) => {
    await expect(inspect(await fixture(name))).rejects.toMatchObject(refusal("foreign_import", words));
  });

  test("§4.4 a component without the tool interface is refused, and told what it exports instead", async () => {
    const bytes = await fixture("missing-export.wit");
    await expect(inspect(bytes)).rejects.toMatchObject(refusal("missing_export", "it exports run"));
  });

  test("§4.4 another version of the contract is refused", async () => {
    const bytes = await fixture("wrong-version.wit");
    await expect(inspect(bytes)).rejects.toMatchObject(
      refusal("wrong_wit_version", "postern:tool/tool@0.2.0"),
    );
  });

  test("§4.4 the right name with other types is refused", async () => {
    const bytes = await fixture("wrong-types.wit");
    await expect(transpile(bytes, 64)).rejects.toMatchObject(refusal("wrong_types", "Request): number"));
  });

  test("an interface of WASI with other types is refused: what it takes is copied out of the guest by them", async () => {
    const bytes = await fixture("wrong-wasi-types.wit");
    await expect(transpile(bytes, 64)).rejects.toMatchObject(
      refusal("wrong_types", "its wasi:random/random is not that of WASI 0.2"),
    );
    await expect(transpile(await fixture("wrong-http-types.wit"), 64)).rejects.toMatchObject(
      refusal("wrong_types", "its wasi:http/outgoing-handler is not that of WASI 0.2"),
    );
    await expect(transpile(await fixture("sockets.wit"), 64)).rejects.toMatchObject(
      refusal("wrong_types", "its wasi:sockets/instance-network is not that of WASI 0.2"),
    );
    await expect(transpile(await fixture("wrong-wasi-3-types.wit"), 64)).rejects.toMatchObject(
      refusal(
        "wrong_types",
        'its wasi:http/client is not that of WASI 0.3: it has "export function send(url: string): number;"',
      ),
    );
    // Its types would be looked for under one name, and be those of the other.
    await expect(inspect(await fixture("named-twice.wit"))).rejects.toMatchObject(
      refusal("named_twice", "wasi:random/random"),
    );
  });

  test("the types of WASI 0.3 are those that the transpiler declares for its WIT", async () => {
    const { componentEmbed, componentNew } = await import("@bytecodealliance/jco");
    const { transpileBytes } = await import("@bytecodealliance/jco-transpile");
    const imports = Object.keys(WASI_0_3).map((name) => `import ${name}@0.3.0;`);
    const packages = ["clocks", "random", "cli", "filesystem", "sockets", "http"].map((name) =>
      wasiPackage(name, "0.3.0"),
    );
    const witSource = `package fixture:fixture; world fixture { ${imports.join(" ")} } ${packages.join("\n")}`;
    const bytes = await componentNew(await componentEmbed({ witSource, dummy: true, world: "fixture" }), []);
    const { files } = await transpileBytes(bytes, { name: "component", wasiShim: false, asyncMode: "jspi" });
    const declared = Object.keys(WASI_0_3).map((name) => {
      const file = files[`interfaces/${name.replace(/[:/]/g, "-")}.d.ts`];
      return [name, declarations(new TextDecoder().decode(file))];
    });
    expect(Object.fromEntries(declared)).toEqual(WASI_0_3);
  });

  test("random bytes, no bytes, text and a truncated component are refused", async () => {
    const whole = await fixture("echo.js");
    const noise = crypto.getRandomValues(new Uint8Array(5000));
    for (const bytes of [noise, new Uint8Array(), Buffer.from("(component)"), whole.subarray(0, 400_000)]) {
      await expect(inspect(bytes)).rejects.toMatchObject(refusal("not_a_component", "cannot be a tool"));
      await expect(transpile(bytes, 64)).rejects.toMatchObject(
        refusal("not_a_component", "cannot be a tool"),
      );
    }
  });

  test("a core module is told apart from a component", async () => {
    const module = Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    await expect(inspect(module)).rejects.toMatchObject(
      refusal("not_a_component", "core WebAssembly module"),
    );
  });

  test("a component cut anywhere is refused or read, and never brings the service down", async () => {
    const whole = await fixture("smuggler.wat");
    for (let cut = 8; cut < whole.length; cut += 900) {
      await inspect(whole.subarray(0, cut)).catch((error) =>
        expect(error).toMatchObject({ kind: "invalid" }),
      );
    }
  });
});
