/** `npm run fuzz -- <target> [--runs N] [--seed S]`: tries new inputs, and keeps the smallest that fails in test/corpus. */
import { randomInt } from "node:crypto";
import { inspect, parseArgs } from "node:util";
import { keep } from "./target.ts";
import { TARGETS } from "./targets.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: "string", default: "10000" }, seed: { type: "string" } },
});
const chosen = TARGETS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
if (chosen.length === 0) throw new Error(`Targets: ${TARGETS.map(({ name }) => name).join(", ")}.`);
// Most inputs are refused by an error that nobody reads.
Error.stackTraceLimit = 0;
const seed = Number(values.seed ?? randomInt(2 ** 31));
for (const target of chosen) {
  const began = performance.now();
  const found = await target.fuzz(Number(values.runs), seed);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  if (found === undefined) {
    console.log(`${target.name}: ${values.runs} inputs, seed ${seed}, ${seconds} s: nothing found`);
    continue;
  }
  process.exitCode = 1;
  console.log(`${target.name}: seed ${seed}: kept as ${keep(target.name, found.input)}`);
  console.log(inspect(found.error, { depth: 10 }));
}
