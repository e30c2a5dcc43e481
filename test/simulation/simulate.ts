/**
 * `npm run simulate -- --seed 7 --minutes 5`: worlds from that seed on, for so long. Without minutes it plays this one seed and prints
 * its steps. What breaks a rule is shrunk (unless `--no-shrink`), printed and kept for the tests. `--engine sqlite` or `postgres` plays
 * on the real thing, `--plant` puts an old bug back, `--kept` plays what was kept.
 */
import { parseArgs } from "node:util";
import { install } from "./machine.ts";
import { replace } from "./replacements.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    minutes: { type: "string" },
    seeds: { type: "string" },
    engine: { type: "string", default: "memory" },
    plant: { type: "string" },
    kept: { type: "boolean", default: false },
    shrink: { type: "boolean", default: true },
  },
  allowNegative: true,
});

// The clock, the network and the old bug have to be there before anything of Postern is loaded.
install();
replace(values.plant);
const { simulate } = await import("./run.ts");
process.exitCode = await simulate({
  seed: Number(values.seed ?? Date.now() % 2 ** 31),
  seeds: values.seeds === undefined ? undefined : Number(values.seeds),
  minutes: values.minutes === undefined ? undefined : Number(values.minutes),
  engine: values.engine,
  planted: values.plant,
  kept: values.kept,
  shrinks: values.shrink,
});
