/** Files in the real sandbox: the authors' example in TypeScript, built as authors build it, and much at once. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWorkspace } from "../../plugins/workspace/workspace.ts";
import { ROOT } from "../support/clone.ts";
import { temporaryFolder } from "../support/home.ts";
import { postern } from "../support/processes/postern.ts";
import { openHomeStore } from "../support/tools/home-store.ts";
import { capabilities, open, type Step } from "../support/tools/reporter.ts";
import { install, toolHost } from "../support/tools/tool-host.ts";
import { afterThisTest } from "../support/undo.ts";

const [, PAGE = ""] = readFileSync(join(ROOT, "wit/README.md"), "utf8").split("\n## Use files\n");
const [, CAPABILITIES = ""] = /```json\n([\s\S]*?)```/.exec(PAGE) ?? [];
const [, EXAMPLE = ""] = /```ts\n([\s\S]*?)```/.exec(PAGE) ?? [];

const TOOL = `
export const tool = {
  description: () => "Counts the lines of the reports.",
  schema: () => JSON.stringify({ type: "object" }),
  execute() {
    countLines();
    return { output: "null" };
  },
};
`;

test.each(["spidermonkey", "quickjs"])("the page's example counts lines, with %s", async (engine) => {
  const folder = join(temporaryFolder(), "lines");
  mkdirSync(folder);
  writeFileSync(join(folder, "tool.ts"), EXAMPLE + TOOL);
  writeFileSync(join(folder, "capabilities.json"), CAPABILITIES);
  const env = { POSTERN_HOME: join(folder, "home") };
  const { code, stderr } = await postern(["tool", "build", folder, "--engine", engine], { cwd: folder, env });
  expect(code, stderr).toBe(0);
  const home = temporaryFolder();
  const store = openHomeStore(home);
  const workspace = await createWorkspace({ store, maxMb: 10, home });
  afterThisTest(() => workspace.close());
  const host = await toolHost({ workspace }, home, store);
  await install(host, "lines", readFileSync(join(folder, "dist", "lines.wasm")), CAPABILITIES);
  const edits = [
    { op: "write", path: "/reports/a.csv", data: Buffer.from("1\n2") },
    { op: "write", path: "/reports/b.csv", data: Buffer.from("Größe") },
  ] as const;
  await workspace.apply("ada", edits, { writer: { kind: "page" } });
  const { outcome } = await host.run({ id: "1", name: "lines", params: "{}" }, { user: "ada" });
  expect(outcome).toMatchObject({ status: "ok" });
  const made = await workspace.read("ada", "/output/lines.txt");
  expect(Buffer.from(made?.data ?? []).toString()).toBe("/reports/a.csv: 2\n/reports/b.csv: 1\n");
});

test("too much is refused in words: bytes of a file and of a call, questions, the user's quota", async () => {
  // It ends at other limits, however long a busy machine takes.
  const { put, text, call } = await open(capabilities({ limits: { timeout_secs: 3600 } }));
  await put("/reports/large", new Uint8Array(20_000_000));
  expect(
    await call([
      ["fill", "/output/a", 25_000_001],
      ["stat", "/output/a"],
      ["size", "/reports/large"],
    ]),
  ).toEqual([{ refused: "a file may have 25 MB" }, ["file", 20_971_520], 8_388_608]);
  const fill: Step = ["fill", "/output/a", 24_000_000];
  expect(await call([fill, fill, fill, fill, fill], { user: "bob" })).toEqual([
    null,
    null,
    null,
    null,
    { refused: "a call may write 100 MB" },
  ]);
  expect(await call([fill, ["fill", "/output/b", 24_000_000]])).toMatchObject({
    status: "error",
    message: expect.stringContaining("There is no room for this in the workspace"),
  });
  expect(await text("/output/b")).toBeUndefined();
  expect(await call([["ask", "/output/none", 20_000]])).toEqual([
    [10_000, "a call may ask for files at most 10000 times"],
  ]);
});
