/** Those who run tool calls, each with the same guest and the same kind of host function. Stated in ../README.md: what each protects from. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { createPool } from "../../../host/sandbox/pool.ts";
import type { Component } from "../../../host/sandbox/processes.ts";
import { toComponent } from "../../support/tools/components.ts";
import type { Rivals } from "../support/rivals.ts";
import { installAs, openHost } from "../support/tool-host.ts";
import { fresh, unprotected } from "../support/variants.ts";

export interface Contestant {
  /** More at once would only make each of them slower; unbounded where it is not said. */
  readonly most?: number;
  /** Runs one call and answers what the guest said. */
  call(params: string): Promise<string>;
  close(): Promise<void>;
}

const MEMORY_MB = 64;
const TIMEOUT_MS = 60_000;
const GUEST = readFileSync(join(import.meta.dirname, "guest.js"), "utf8");

async function request(url: string): Promise<string> {
  return (await fetch(url)).text();
}

/** Our pool alone, without what the host does around a call: with clean instances and without. */
export function openPools(
  bytes: Uint8Array,
): Readonly<Record<"clean" | "unprotected" | "fresh", Contestant>> {
  const clean = toComponent(bytes, MEMORY_MB);
  // One for all of them: threads cost memory.
  const pool = createPool();
  const contestant = (variant: Component): Contestant => ({
    async call(params) {
      const outcome = await pool.call({
        component: variant,
        params,
        timeoutMs: TIMEOUT_MS,
        secrets: [],
        http: async ({ url }) => ({ ok: true, status: 200, body: Buffer.from(await request(url)) }),
      });
      if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
      return outcome.output;
    },
    close: () => pool.close(),
  });
  return {
    clean: contestant(clean),
    unprotected: contestant(unprotected(clean)),
    fresh: contestant(fresh(clean)),
  };
}

/** A call as the agent makes it: catalogue, schema, policy, limits, broker, pool and a receipt on disk. */
export async function openWhole(home: string, bytes: Uint8Array, upstream: string): Promise<Contestant> {
  const { host: address, hostname } = new URL(upstream);
  const host = await openHost(home, [address]);
  const http = {
    allowlist: [{ host: hostname, path_prefix: "/v1/", methods: ["GET"] }],
    rate_limit: { requests_per_minute: 100_000, requests_per_hour: 1_000_000 },
  };
  await installAs(host, ["measured"], bytes, { http });
  return {
    async call(params) {
      const { outcome } = await host.run({ id: "call", name: "measured", params }, { user: "bench" });
      if (outcome.status !== "ok") throw new Error(outcome.message);
      return outcome.output;
    },
    close: () => host.close(),
  };
}

interface Plugin {
  call(name: string, input: string): Promise<{ text(): string } | null>;
  close(): Promise<void>;
}

type CreatePlugin = (
  module: WebAssembly.Module,
  options: { readonly runInWorker: true; readonly allowedHosts: readonly string[] },
) => Promise<Plugin>;

/** Extism, each plugin in a worker of its own. One that is reused is kept for the next call that finds none free. */
export async function openExtism(rivals: Rivals, isReused: boolean): Promise<Contestant> {
  const createPlugin = rivals.load<CreatePlugin>("@extism/extism");
  const { parse } = await import("@bytecodealliance/jco");
  const bytes = await parse(readFileSync(join(import.meta.dirname, "extism.wat"), "utf8"));
  const module = await WebAssembly.compile(new Uint8Array(bytes));
  const free: Plugin[] = [];
  return {
    async call(params) {
      const plugin =
        free.pop() ?? (await createPlugin(module, { runInWorker: true, allowedHosts: ["127.0.0.1"] }));
      const output = (await plugin.call("execute", params))?.text() ?? "";
      if (isReused) free.push(plugin);
      else await plugin.close();
      return output;
    },
    close: async () => void (await Promise.all(free.map((plugin) => plugin.close()))),
  };
}

interface Handle {
  dispose(): void;
}

interface QuickJsContext {
  readonly runtime: {
    setMemoryLimit(bytes: number): void;
    setInterruptHandler(isOver: () => boolean): void;
    executePendingJobs(): unknown;
  };
  readonly global: Handle;
  newFunction(name: string, run: (url: Handle) => Handle): Handle;
  newPromise(): { readonly handle: Handle; readonly settled: Promise<void>; resolve(value: Handle): void };
  newString(text: string): Handle;
  getString(handle: Handle): string;
  setProp(object: Handle, name: string, value: Handle): void;
  evalCode(code: string): unknown;
  unwrapResult(result: unknown): Handle;
  resolvePromise(promise: Handle): Promise<unknown>;
  dispose(): void;
}

interface QuickJs {
  getQuickJS(): Promise<{ newContext(): QuickJsContext }>;
}

/** QuickJS in WebAssembly on the main thread, with a new runtime and context for each call. */
export async function openQuickJs(rivals: Rivals): Promise<Contestant> {
  const { getQuickJS } = rivals.load<QuickJs>("quickjs-emscripten");
  const engine = await getQuickJS();
  return {
    async call(params) {
      const context = engine.newContext();
      context.runtime.setMemoryLimit(MEMORY_MB * 2 ** 20);
      const deadline = Date.now() + TIMEOUT_MS;
      context.runtime.setInterruptHandler(() => Date.now() > deadline);
      const lent = context.newFunction("request", (url) => {
        const answer = context.newPromise();
        void request(context.getString(url)).then((text) => {
          const value = context.newString(text);
          answer.resolve(value);
          value.dispose();
        });
        void answer.settled.then(() => context.runtime.executePendingJobs());
        return answer.handle;
      });
      context.setProp(context.global, "request", lent);
      lent.dispose();
      context.unwrapResult(context.evalCode(GUEST)).dispose();
      const promise = context.unwrapResult(context.evalCode(`execute(${JSON.stringify(params)})`));
      const resolved = context.resolvePromise(promise);
      promise.dispose();
      context.runtime.executePendingJobs();
      const output = context.unwrapResult(await resolved);
      const text = context.getString(output);
      output.dispose();
      context.dispose();
      return text;
    },
    close: async () => {},
  };
}

interface IsolatedVm {
  readonly Isolate: new (options: { readonly memoryLimit: number }) => Isolate;
}

interface Isolate {
  createContext(): Promise<IsolateContext>;
  compileScript(code: string): Promise<{ run(context: IsolateContext): Promise<unknown> }>;
  dispose(): void;
}

interface IsolateContext {
  evalClosure(code: string, values: readonly unknown[], options: object): Promise<unknown>;
  eval(code: string, options: object): Promise<unknown>;
  release(): void;
}

/** V8 isolates, as many as cores, with a new context for each call. */
export async function openIsolatedVm(rivals: Rivals): Promise<Contestant> {
  const ivm = rivals.load<IsolatedVm>("isolated-vm");
  const isolates = await Promise.all(
    Array.from({ length: availableParallelism() }, async () => {
      const isolate = new ivm.Isolate({ memoryLimit: MEMORY_MB });
      return { isolate, script: await isolate.compileScript(GUEST) };
    }),
  );
  let next = 0;
  return {
    async call(params) {
      const { isolate, script } = isolates[next++ % isolates.length] as (typeof isolates)[number];
      const context = await isolate.createContext();
      const lend = "globalThis.request = (url) => $0.apply(undefined, [url], { result: { promise: true } })";
      await context.evalClosure(lend, [request], { arguments: { reference: true } });
      await script.run(context);
      const code = `execute(${JSON.stringify(params)})`;
      const text = await context.eval(code, { promise: true, timeout: TIMEOUT_MS });
      context.release();
      return String(text);
    },
    close: async () => {
      for (const { isolate } of isolates) isolate.dispose();
    },
  };
}

const PROGRAM = `const request = async (url) => (await fetch(url)).text();
${GUEST}
process.stdin.setEncoding("utf8").on("data", async (params) => process.stdout.write(await execute(params)));`;

/** A Node process for each call, asked over stdin and answering over stdout. */
export function openProcesses(): Contestant {
  return {
    most: 8,
    async call(params) {
      const child = spawn(process.execPath, ["-e", PROGRAM], { stdio: ["pipe", "pipe", "inherit"] });
      child.stdin.end(params);
      let output = "";
      for await (const chunk of child.stdout.setEncoding("utf8")) output += chunk;
      return output;
    },
    close: async () => {},
  };
}
