/** Code that a model writes, in the real component, sandbox and workspace. */
import { expect, test } from "vitest";
import type { InnerCall } from "../../../host/services.ts";
import { builtComponent, capabilitiesOf } from "../../support/tools/shipped.ts";
import { openRunCode } from "./runner.ts";

const SALES = "month,country,price\n2026-01,NO,10\n2026-01,SE,20.5\n2026-02,NO,30\n2026-02,SE,8\n";

test("it computes, reads and writes files, and draws charts that are files", async () => {
  const { result, put, read, host } = await openRunCode();
  await put("/sales.csv", SALES, [{ kind: "page", name: "https://shop.example/" }]);
  expect(await result("1 + 1")).toEqual({ value: 2, printed: "", files: [], charts: [], calls: 0 });
  expect(await result("const a: number = 2;\ninterface B { b: number }\nreturn a * 3")).toMatchObject({
    value: 6,
  });
  expect(
    await result(`const rows = csv.parse(await files.read("/sales.csv"));
const means = stats.rollup(rows, (some) => stats.mean(some.map(({ price }) => price)), "country");
console.log(table([...means].map(([country, mean]) => ({ country, mean }))));
files.write("/output/means.json", Object.fromEntries(means));
chart.line(rows.filter(({ country }) => country === "NO"), { x: "month", y: "price", title: "Prices <in Norway>" });
means`),
  ).toEqual({
    value: { NO: 20, SE: 14.25 },
    printed: "| country | mean |\n| --- | ---: |\n| NO | 20 |\n| SE | 14.25 |\n\n",
    files: [
      { path: "/output/means.json", bytes: 29, mime: "application/json" },
      { path: "/output/prices-in-norway.svg", bytes: expect.any(Number), mime: "image/svg+xml" },
    ],
    charts: [{ path: "/output/prices-in-norway.svg", title: "Prices <in Norway>" }],
    calls: 0,
  });
  const svg = await read("/output/prices-in-norway.svg");
  expect(svg?.text).toMatch(
    /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" .*Prices &lt;in Norway&gt;.*<\/svg>$/s,
  );
  // What was made of a stranger's words is theirs.
  expect(svg?.origins).toContainEqual({ kind: "page", name: "https://shop.example/" });
  expect(await result('files.write("/elsewhere.txt", "x")')).toMatch(/In line 1: files\.write/);
  expect(await read("/elsewhere.txt")).toBeUndefined();
  const [tool] = await host.list();
  expect(tool?.grants).toEqual([
    "may not use the network",
    expect.stringContaining("may call every tool that the conversation may use"),
    "may read every file of the workspace",
    "may read and write the folder output of the workspace",
    expect.any(String),
    "may use up to 256 MiB of memory",
    "may run for up to 60 seconds per call",
  ]);
});

test("an error names the line that the model wrote", async () => {
  const { result } = await openRunCode();
  expect(await result("const a = 1;\nconst rows = undefined;\nconsole.log(a)\nrows.map((x) => x)")).toBe(
    `TypeError: can't access property "map", rows is undefined\nIn line 4: rows.map((x) => x)\nBefore that it printed:\n1\n`,
  );
  expect(await result("const a: number = 1;\nconst b: string = a.missing.name;\nb")).toContain(
    "In line 2: const b: string = a.missing.name;",
  );
  expect(await result("let a = ;")).toContain("In line 1: let a = ;");
  expect(await result('import fs from "node:fs";\nfs')).toContain("There are no modules");
  expect(await result("await new Promise(() => {})")).toBe(
    "The code waits for something that never happens.",
  );
});

test("hostile code ends in words, and the next run is as good as the first", async () => {
  const { result } = await openRunCode();
  expect(await result('await import("node:fs")')).toContain("cannot import anything");
  expect(await result('await fetch("https://evil.example/")')).toContain("there is no network in here");
  expect(await result("process.exit(1)")).toContain("process is not defined");
  const printed = await result('for (let at = 0; at < 20_000; at++) console.log("line", at);\n"done"');
  expect(printed).toMatchObject({ value: "done", printed: expect.stringContaining("(cut: more than 50000") });
  expect(printed.printed.length).toBeLessThan(51_000);
  expect(
    await result(
      'const deep = () => new Proxy({}, { ownKeys: () => ["a"], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }), get: deep });\nreturn deep()',
    ),
  ).toMatchObject({ value: expect.stringContaining("(cut: the value is too large") });
  expect(
    await result(
      '({ get x() { throw new Error("no") }, big: 10n, map: new Map([["a", 1]]), date: new Date(0), nan: NaN, set: new Set([1]) })',
    ),
  ).toMatchObject({
    value: {
      ...{ x: "[could not be read: Error: no]", big: "10", map: { a: 1 } },
      ...{ date: "1970-01-01T00:00:00.000Z", nan: "NaN", set: [1] },
    },
  });
  expect(await result("const a = { b: [] }; a.b.push(a); a")).toMatchObject({ value: { b: ["[circular]"] } });
  const long = await result('"x".repeat(3_000_000)');
  expect(long.value.length).toBeLessThan(101_000);
  expect(
    await result(
      'JSON.stringify = () => "forged"; Array.prototype.map = () => { throw 1 }; Object.prototype.toJSON = () => 2; Promise.prototype.then = () => {}; ({ a: [1] })',
    ),
  ).toMatchObject({ value: { a: [1] } });
  expect(await result("typeof JSON.parse('{}') + [1].map((x) => x + 1)")).toMatchObject({ value: "object2" });
});

test("it calls tools in one go, and its receipt lists the calls", async () => {
  const { host, run, result } = await openRunCode();
  let running = 0;
  let most = 0;
  const parents = new Set<string>();
  const innerCall: InnerCall = async ({ name, params }, { parent }) => {
    parents.add(parent);
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 20));
    running--;
    if (name === "pay")
      return { ok: false, code: "approval_required", message: "It needs the user's approval." };
    return {
      ok: true,
      output: JSON.stringify({ name, params: JSON.parse(params) }),
      receipt: "r1",
      origins: [],
    };
  };
  const { outcome, receipt } = await run(
    `const found = await Promise.all([1, 2, 3].map((at) => tools.call("look", { at })));
try { await tools.call("pay", {}) } catch (error) { console.log(error.message) }
found.map(({ params }) => params.at)`,
    innerCall,
  );
  expect(outcome).toMatchObject({ status: "ok" });
  expect(outcome.status === "ok" && JSON.parse(outcome.output)).toMatchObject({
    ...{ value: [1, 2, 3], printed: "pay: It needs the user's approval.\\n".replace("\\n", "\n"), calls: 4 },
  });
  expect(receipt?.calls).toMatchObject([
    { tool: "look", status: "ok", receipt: "r1" },
    { tool: "look", status: "ok" },
    { tool: "look", status: "ok" },
    { tool: "pay", status: "error", code: "approval_required" },
  ]);
  expect([...parents]).toEqual([receipt?.id]);
  expect(await host.receipts.find(receipt?.id ?? "")).toEqual(receipt);
  const many = await run(
    'const all = await Promise.allSettled(Array.from({ length: 130 }, (_, at) => tools.call("look", { at })));\nall.filter(({ status }) => status === "fulfilled").length',
    innerCall,
  );
  expect(many.outcome.status === "ok" && JSON.parse(many.outcome.output).value).toBe(100);
  expect(most).toBeLessThanOrEqual(8);
  expect(await result('await tools.call("run-code", { code: "1" })', innerCall)).toBe(
    'Error: run-code: A tool cannot call itself.\nIn line 1: await tools.call("run-code", { code: "1" })',
  );
  expect(await result('await tools.call("look", {})')).toContain("can only be called in a conversation");
});

test("a tool links the interface only where its file names tools, and all of them only as ours", async () => {
  const { host } = await openRunCode();
  const component = await builtComponent("run-code");
  const { agent_tools: _, ...without } = JSON.parse(capabilitiesOf("run-code"));
  await expect(host.examine(component, JSON.stringify(without))).rejects.toThrow(
    "it imports postern:tool/agent-tools@0.1.0, and its capabilities file names no agent_tools",
  );
  const all = JSON.stringify({ version: "1.0.0", wit_version: "0.1.0", agent_tools: ["*"] });
  await expect(host.examine(await builtComponent("convert"), all)).rejects.toThrow(
    'agent_tools may be ["*"] only for the run-code that comes with Postern',
  );
  const named = JSON.stringify({ ...without, agent_tools: ["look"] });
  const candidate = await host.examine(component, named);
  expect(candidate.grants).toContain(
    "may call the tool `look`, as if the model had called it, except where a person would be asked",
  );
  await host.catalog.put("narrow", candidate, undefined);
  const asked: string[] = [];
  const innerCall: InnerCall = async ({ name }) => {
    asked.push(name);
    return { ok: true, output: "1" };
  };
  const code =
    'const all = await Promise.allSettled(["look", "other", "run-code"].map((name) => tools.call(name)));\nall.map(({ value, reason }) => value ?? reason.message)';
  const { outcome } = await host.run(
    { id: "1", name: "narrow", params: JSON.stringify({ code }) },
    { user: "ada", innerCall },
  );
  expect(outcome.status === "ok" && JSON.parse(outcome.output).value).toEqual([
    1,
    "other: narrow may call only these tools: look.",
    "run-code: narrow may call only these tools: look.",
  ]);
  expect(asked).toEqual(["look"]);
});
