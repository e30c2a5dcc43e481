/** The command line in the test's own process, through the same `main`: a process would load the whole program again. */
import { Readable } from "node:stream";

export interface Typed {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  readonly input: string | undefined;
}

export interface Printed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** These serve, start programs that write past us, or look at what their standard input is. */
const ON_THEIR_OWN = new Set(["serve", "ask", "mcp", "tool build", "tool dev"]);
const WITH_SUBCOMMANDS = /^(tool|mcp)$/;

let isBusy = false;

/** Not two at once, not for third parties' code, and not for what is a process by its nature. */
export function canRunHere({ args: [first = "serve", second = ""], env }: Typed): boolean {
  const name = WITH_SUBCOMMANDS.test(first) && !second.startsWith("-") ? `${first} ${second}`.trim() : first;
  return !isBusy && !ON_THEIR_OWN.has(name) && env["PLUGINS"] === undefined;
}

export async function runHere({ args, env, cwd, input }: Typed): Promise<Printed> {
  isBusy = true;
  const { main } = await import("../../../kernel/cli/main.ts");
  const printed = { stdout: "", stderr: "" };
  const before = {
    env: { ...process.env },
    cwd: process.cwd(),
    stdin: Object.getOwnPropertyDescriptor(process, "stdin") as PropertyDescriptor,
    exitCode: process.exitCode,
  };
  const undo = (["stdout", "stderr"] as const).map((name) =>
    capture(name, (text) => (printed[name] += text)),
  );
  setEnvironment({ NODE_ENV: "production", ...env });
  Object.defineProperty(process, "stdin", { configurable: true, value: Readable.from([input ?? ""]) });
  try {
    if (cwd !== undefined) process.chdir(cwd);
    process.exitCode = undefined;
    await main(args);
    return { code: Number(process.exitCode ?? 0), ...printed };
  } finally {
    process.exitCode = before.exitCode;
    process.chdir(before.cwd);
    Object.defineProperty(process, "stdin", before.stdin);
    setEnvironment(before.env);
    for (const release of undo) release();
    isBusy = false;
  }
}

/** In place: the operating system's own calls read it too. */
function setEnvironment(variables: Readonly<NodeJS.ProcessEnv>): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, variables);
}

function capture(name: "stdout" | "stderr", take: (text: string) => void): () => void {
  const stream = process[name];
  const { write } = stream;
  const listeners = stream.listeners("error");
  const decoder = new TextDecoder();
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    take(typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }));
    const done = rest.find((argument) => typeof argument === "function");
    if (done !== undefined) queueMicrotask(() => done());
    return true;
  };
  return () => {
    stream.write = write;
    // A command listens for as long as its process lives.
    for (const listener of stream.listeners("error"))
      if (!listeners.includes(listener)) stream.off("error", listener as () => void);
  };
}
