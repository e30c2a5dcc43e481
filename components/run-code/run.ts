/** Runs the code in this instance, which is clean and has nothing else to do. */
import { createCharts } from "./chart.ts";
import { CodeError, compile, describeThrown } from "./code.ts";
import { csv } from "./csv.ts";
import { dates } from "./dates.ts";
import { createFiles } from "./files.ts";
import { rememberGlobals } from "./globals.ts";
import { toPlain } from "./plain.ts";
import { createPrinter } from "./printed.ts";
import { stats } from "./stats.ts";
import { table } from "./table.ts";
import { countTimers, stopTimers, tick } from "./timers.ts";
import { countCalls, makeCalls, tools } from "./tools.ts";

const printer = createPrinter();
const files = createFiles();
const chart = createCharts(files.keepChart);

const fetch = () => {
  throw new Error('there is no network in here: read a page with tools.call("read-page", { url })');
};

// Global, not parameters: the code may have a `const table` of its own.
Object.assign(globalThis, {
  fetch,
  csv,
  dates,
  stats,
  table,
  chart,
  files: files.api,
  tools,
  console: printer.console,
});

const MAX_PRINTED_WITH_ERROR = 4000;
const restoreGlobals = rememberGlobals();

export async function run(code: string): Promise<object> {
  const value = await settled(code);
  const written = files.finish(printer.console.log);
  return {
    value: toPlain(value, files.named),
    printed: printer.text(),
    ...written,
    calls: countCalls(),
  };
}

/** Waits for the code, and makes the calls that it waits for. */
async function settled(code: string): Promise<unknown> {
  const body = compile(code);
  // The engine looks after our promise with the globals of now, not with what the code makes of them.
  await null;
  let outcome: { readonly value?: unknown; readonly error?: unknown } | undefined;
  const done = (ended: typeof outcome) => {
    restoreGlobals();
    outcome ??= ended;
  };
  void (async () => {
    try {
      done({ value: await body() });
    } catch (error) {
      done({ error: describeThrown(error, code) });
    }
  })();
  // Most code does not wait, or only for what is there already.
  for (let turn = 0; turn < 8 && outcome === undefined; turn++) await null;
  while (outcome === undefined) {
    if (makeCalls()) for (let turn = 0; turn < 20 && outcome === undefined; turn++) await null;
    else {
      const waits = countTimers();
      await tick();
      const isStuck = waits === 0 && countTimers() === 0 && outcome === undefined && !makeCalls();
      if (isStuck) done({ error: new CodeError("The code waits for something that never happens.") });
    }
  }
  stopTimers();
  const { value, error } = outcome;
  if (error !== undefined) throw withPrinted(error as CodeError);
  return value;
}

function withPrinted({ message }: CodeError): CodeError {
  const printed = printer.text();
  const shown =
    printed.length > MAX_PRINTED_WITH_ERROR ? `…${printed.slice(-MAX_PRINTED_WITH_ERROR)}` : printed;
  return new CodeError(printed === "" ? message : `${message}\nBefore that it printed:\n${shown}`);
}
