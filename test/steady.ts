/**
 * `npm run test:steady -- [times] [vitest arguments]`: runs `npm test` so many times, every second time beside two processes that
 * burn both cores and one that fills the disk's queue, each time with the files in another order and properties tried with other inputs. Lists
 * every test that failed once, with its seed.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { ROOT } from "./support/clone.ts";

interface Failure {
  readonly test: string;
  readonly seed: number;
  readonly isBusy: boolean;
  readonly message: string;
}

interface Report {
  readonly numTotalTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly status: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const [first = "4", ...rest] = process.argv.slice(2);
const times = /^\d+$/.test(first) ? Number(first) : 4;
const given = /^\d+$/.test(first) ? rest : process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "postern-steady-"));
const failures: Failure[] = [];
const print = (line: string) => process.stdout.write(`${line}\n`);

try {
  for (let round = 1; round <= times; round++) await run(round);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
print(failures.length === 0 ? `${times} of ${times} runs were green.` : `${failures.length} failures:`);
failures.forEach(printFailure);
process.exitCode = failures.length === 0 ? 0 : 1;

async function run(round: number): Promise<void> {
  const isBusy = round % 2 === 0;
  const seed = Math.trunc(Math.random() * 2 ** 31);
  const file = join(folder, `${round}.json`);
  const stop = isBusy ? burn() : () => {};
  const began = Date.now();
  const order = ["--sequence.shuffle.files", `--sequence.seed=${seed}`];
  const report = ["--reporter=json", `--outputFile=${file}`];
  try {
    const child = spawn("npm", ["test", "--", ...order, ...report, ...given], {
      cwd: ROOT,
      stdio: ["ignore", "ignore", "inherit"],
    });
    const code = await new Promise((resolve) => child.on("close", resolve));
    const found = read(file, seed, isBusy);
    if (code !== 0 && found.length === 0)
      found.push({ test: "the run itself", seed, isBusy, message: `npm test ended with ${code}` });
    failures.push(...found);
    const seconds = Math.round((Date.now() - began) / 1000);
    print(
      `${round} of ${times}, ${isBusy ? "busy" : "quiet"}, seed ${seed}: ${found.length} failures in ${seconds} s`,
    );
    // The other rounds may take hours.
    found.forEach(printFailure);
  } finally {
    stop();
  }
}

function printFailure({ test, seed, isBusy, message }: Failure): void {
  print(`  ${test}\n    seed ${seed}, ${isBusy ? "busy" : "quiet"}: ${message.split("\n")[0]}`);
}

function read(file: string, seed: number, isBusy: boolean): Failure[] {
  try {
    const { testResults } = JSON.parse(readFileSync(file, "utf8")) as Report;
    return testResults.flatMap(({ name, status, message, assertionResults }) => {
      const where = name.replace(`${ROOT}/`, "");
      const failed = assertionResults
        .filter((one) => one.status === "failed")
        .map(({ fullName, failureMessages: [why = ""] }) => ({
          ...{ test: `${where} > ${fullName}`, seed, isBusy, message: why },
        }));
      const isFileAlone = status === "failed" && failed.length === 0;
      return isFileAlone ? [{ test: where, seed, isBusy, message }] : failed;
    });
  } catch {
    return [];
  }
}

/** Two threads that never rest, and one that writes and flushes without a pause. */
function burn(): () => void {
  const workers = Array.from(
    { length: Math.max(2, availableParallelism()) },
    () => new Worker("for (;;);", { eval: true }),
  );
  const file = join(folder, "flood");
  const writer = new Worker(
    `const fs = require("node:fs");
     const block = Buffer.alloc(4 << 20, 1);
     for (;;) {
       const file = fs.openSync(${JSON.stringify(file)}, "w");
       for (let count = 0; count < 64; count++) { fs.writeSync(file, block); fs.fsyncSync(file); }
       fs.closeSync(file);
     }`,
    { eval: true },
  );
  return () => {
    for (const worker of [...workers, writer]) void worker.terminate();
  };
}
