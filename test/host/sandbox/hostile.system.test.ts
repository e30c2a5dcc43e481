/** Whatever a component does, the service and every other tool's call go on. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPool, type Pool, type PoolCall } from "../../../host/sandbox/pool.ts";
import type { Component } from "../../../host/sandbox/processes.ts";
import { ToolProcess } from "../../../host/sandbox/tool-process.ts";
import { moveTime } from "../../support/clock/moved-time.ts";
import { childrenBytes } from "../../support/processes/children.ts";
import { fixture, toComponent } from "../../support/tools/components.ts";
import { bombIn } from "../../support/tools/tool-host.ts";
import { afterThisTest } from "../../support/undo.ts";

const MIB = 2 ** 20;
const deaths: string[] = [];
let pool: Pool;
beforeAll(() => {
  pool = createPool({ size: 2, keepsSpare: true, onDeath: ({ key }) => deaths.push(key) });
});
afterAll(() => pool.close());

const reply = { ok: true as const, status: 200, headers: [], body: new Uint8Array() };

function call(component: Component, params: unknown, rest: Partial<PoolCall> = {}) {
  const http = async () => reply;
  return pool.call({
    component,
    params: JSON.stringify(params),
    timeoutMs: 60_000,
    secrets: [],
    http,
    ...rest,
  });
}

/** The most that any process of a tool held while the work was done. */
async function peakOf<Result>(work: Promise<Result>): Promise<{ result: Result; peak: number }> {
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, ...childrenBytes().values());
  }, 5);
  try {
    return { result: await work, peak };
  } finally {
    clearInterval(timer);
  }
}

describe("a resource bomb", () => {
  test("in execute ends its own process, and costs the machine at most 256 MB", async () => {
    const bomb = toComponent(await bombIn(0));
    expect(await pool.describe(bomb)).toMatchObject({ description: '{"type":"object"}' });
    const { result, peak } = await peakOf(call(bomb, {}));
    expect(result).toMatchObject({ ok: false, code: "out_of_memory" });
    expect(peak).toBeLessThan(256 * MIB);
    expect(await call(toComponent(await fixture("echo.js")), { text: "on" })).toMatchObject({ ok: true });
  });

  test.each([
    ["description", 1],
    ["schema", 2],
  ] as const)("in %s is a refusal of the component", async (_where, number) => {
    await expect(pool.describe(toComponent(await bombIn(number)))).rejects.toMatchObject({
      code: "cannot_describe_itself",
    });
  });
});

test("a component may describe itself late on a machine that gives it no time, but not when it only waits", async () => {
  const echo = toComponent(await fixture("echo.js"));
  await pool.describe(echo);
  const signal = (name: NodeJS.Signals) => {
    for (const pid of childrenBytes().keys()) process.kill(pid, name);
  };
  const { advance } = moveTime(afterThisTest);
  signal("SIGSTOP");
  const late = pool.describe(echo);
  await advance(30_000);
  signal("SIGCONT");
  expect(await late).toMatchObject({ description: "Gives back what it was given." });

  signal("SIGSTOP");
  const never = expect(pool.describe(echo)).rejects.toThrow("did not answer within 60 seconds");
  await advance(61_000);
  await never;
  signal("SIGCONT");
});

describe("strings", () => {
  test("a component that asks again while it is given an answer is stopped", async () => {
    const outcome = await call(toComponent(await fixture("nester.wat")), "n");
    expect(outcome).toMatchObject({
      code: "trap",
      message: expect.stringContaining("while it was given an answer"),
    });
  });

  test("a text of 60 MiB is refused before it is read", async () => {
    const { result, peak } = await peakOf(call(toComponent(await fixture("nester.wat")), "t"));
    expect(result).toMatchObject({ code: expect.stringMatching(/trap|out_of_memory/) });
    expect(peak).toBeLessThan(256 * MIB);
  });
});

test("a schema of 60 levels of fanning references holds up nobody else", async () => {
  const levels = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [
      `l${at}`,
      { allOf: [{ $ref: `#/$defs/l${at + 1}` }, { $ref: `#/$defs/l${at + 1}` }] },
    ]),
  );
  const schema = JSON.stringify({
    type: "object",
    $ref: "#/$defs/l0",
    $defs: { ...levels, l60: { type: "object" } },
  });
  const echo = toComponent(await fixture("echo.js"));
  const other = toComponent(await fixture("smuggler.wat"));
  const stuck = pool.check(echo, schema, "{}");
  for (let round = 0; round < 20; round++) expect(await call(other, "g")).toMatchObject({ ok: true });
  expect(await stuck).toMatch(/cannot be checked|cannot be used|did not answer/);
});

describe("a process killed from outside", () => {
  const kill = (pids: Iterable<number>) => {
    for (const pid of pids) process.kill(pid, "SIGKILL");
  };

  test("in the middle of ten calls ends each of them in words, once, and the next call works", async () => {
    const echo = toComponent(await fixture("echo.js"));
    const before = deaths.length;
    let asked = 0;
    const all = Promise.withResolvers<void>();
    const http = () => {
      if (++asked === 10) all.resolve();
      return new Promise<never>(() => {});
    };
    const calls = Array.from({ length: 10 }, () => call(echo, { url: "https://a" }, { http }));
    await all.promise;
    kill(childrenBytes().keys());
    for (const outcome of await Promise.all(calls))
      expect(outcome).toMatchObject({
        ok: false,
        code: "worker_lost",
        message: expect.stringContaining("SIGKILL"),
      });
    expect(deaths.slice(before).filter((key) => key === echo.key)).toHaveLength(1);
    expect(await call(echo, { text: "on" })).toMatchObject({ ok: true });
  });

  test("while it only stood ready changes nothing", async () => {
    const others = new Set(childrenBytes().keys());
    const ready = createPool({ size: 1, keepsSpare: true });
    try {
      const spare = () => [...childrenBytes().keys()].filter((pid) => !others.has(pid));
      await expect.poll(spare).toHaveLength(1);
      kill(spare());
      const component = toComponent(await fixture("echo.js"));
      const http = async () => reply;
      const one = { component, params: '{"text":"on"}', timeoutMs: 60_000, secrets: [], http };
      expect(await ready.call(one)).toMatchObject({ ok: true });
    } finally {
      await ready.close();
    }
  });
});

test("two tools, one of which dies at every call: the other does not notice in 1,000 calls", async () => {
  const bomb = toComponent(await bombIn(0));
  const sound = toComponent(await fixture("smuggler.wat"));
  let isOver = false;
  const dying = (async () => {
    let died = 0;
    for (; !isOver || died < 2; died++) expect(await call(bomb, {})).toMatchObject({ ok: false });
    return died;
  })();
  for (let count = 0; count < 1000; count++) expect(await call(sound, "g")).toMatchObject({ ok: true });
  isOver = true;
  expect(await dying).toBeGreaterThan(1);
});

describe("code that broke out of the glue", () => {
  /** What an expression says inside the thread that runs components. */
  async function inside(expression: string): Promise<string> {
    const glue = `return () => ({ tool: { async execute() {
      try { return { output: JSON.stringify(String(await (${expression}))) }; }
      catch (error) { return { output: JSON.stringify("refused: " + (error.code ?? error.name)) }; }
    } } });`;
    const child = ToolProcess.start({ role: "run", cores: 1 });
    try {
      await child.load({ glue, modules: [], restorable: false, plain: true }, 64 * MIB);
      const ask = { type: "execute", params: "{}" } as const;
      const state = async () => ({ ok: false, error: "" }) as const;
      const file = async () => ({ ok: false, code: "access", error: "" }) as const;
      const events = { http: async () => reply, state, file, inner: state, log: () => {} };
      const { outcome } = await child.call(
        ask,
        { secrets: [], settings: {} },
        events,
        new AbortController().signal,
      );
      return outcome.ok && "output" in outcome ? JSON.parse(outcome.output) : JSON.stringify(outcome);
    } finally {
      child.end("done");
      await child.exited;
    }
  }

  test.each([
    ["reads a file", `process.getBuiltinModule("node:fs").readFileSync("/etc/passwd", "utf8")`],
    ["writes a file", `process.getBuiltinModule("node:fs").writeFileSync("/tmp/postern-escape", "x")`],
    ["lists a folder", `process.getBuiltinModule("node:fs").readdirSync("/")`],
    ["starts a program", `process.getBuiltinModule("node:child_process").execSync("id")`],
    [
      "opens a connection",
      `new Promise((resolve, reject) => process.getBuiltinModule("node:net").connect(22, "127.0.0.1").on("connect", () => resolve("connected")).on("error", reject))`,
    ],
    ["fetches a page", `fetch("http://127.0.0.1:1/").then((answer) => answer.status)`],
    ["looks up a name", `process.getBuiltinModule("node:dns").promises.lookup("localhost")`],
    ["uses internal bindings", `process.binding("fs").open`],
    [
      "starts a thread without permissions",
      `new (process.getBuiltinModule("node:worker_threads").Worker)("1", { eval: true, execArgv: ["--no-permission"] })`,
    ],
    ["reads our own code", `process.getBuiltinModule("node:fs").readFileSync("package.json", "utf8")`],
    ["sends a signal", `process.kill(process.ppid, 0)`],
    ["loads an addon", `process.dlopen({ exports: {} }, "/tmp/x.node")`],
    ["opens an inspector", `process.getBuiltinModule("node:inspector").open(0)`],
    [
      "opens a database",
      `new (process.getBuiltinModule("node:sqlite").DatabaseSync)("/tmp/postern-escape.sqlite")`,
    ],
  ])("%s: refused", async (_what, expression) => {
    expect(await inside(expression)).toMatch(/^refused: /);
  });

  test("its environment and arguments tell nothing", async () => {
    expect(await inside("JSON.stringify(process.env)")).toBe("{}");
    expect(await inside("process.argv.length")).toBe("2");
  });

  test("the whole process has the same bounds, and no more descriptors than its own", async () => {
    const child = ToolProcess.start({ role: "run", cores: 1 });
    try {
      const limits = () => readFileSync(`/proc/${child.pid}/limits`, "utf8");
      await expect.poll(limits).toMatch(/Max file size\s+0\s+0/);
      expect(limits()).toMatch(/Max core file size\s+0\s+0/);
      expect(execFileSync("cat", [`/proc/${child.pid}/environ`], { encoding: "utf8" })).toBe("");
    } finally {
      child.end("done");
    }
  });
});
