/** `npm run bench [-- name …]`: every bench, a table in the terminal and test/bench/results.json. */
import { globSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { table } from "../../kernel/table.ts";
import type { Bench, Figure } from "./bench.ts";

const HERE = import.meta.dirname;
const NOT_BENCHES = new Set(["run.ts", "bench.ts"]);

const wanted = process.argv.slice(2);
const files = globSync("*.ts", { cwd: HERE })
  .filter((file) => !NOT_BENCHES.has(file))
  .sort();
const loaded = await Promise.all(files.map((file) => import(join(HERE, file)) as Promise<{ bench: Bench }>));
const benches = loaded.map(({ bench }) => bench);
const unknown = wanted.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `no bench is named ${unknown.join(", ")}; there are ${benches.map(({ name }) => name).join(", ")}\n`,
  );
  process.exit(2);
}

const progress = (text: string) => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
};
const number = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
const row = ({ name, median, spread, unit, ratio, target }: Figure) => [
  name,
  `${number(median)} ${unit}`,
  `±${Math.round(spread * 100)} %`,
  `${number(ratio)}×`,
  target ? `${target.words}: ${target.met ? "met" : "NOT MET"}` : "",
];

const results: Record<string, readonly Figure[]> = {};
for (const bench of benches) {
  if (wanted.length > 0 && !wanted.includes(bench.name)) continue;
  const figures = await bench.run((text) => progress(`${bench.name}: ${text}`));
  progress("");
  results[bench.name] = figures;
  process.stdout.write(`\n${bench.name}: ${bench.about}\n${table(figures.map(row))}`);
}
const machine = { node: process.version, arch: process.arch, cpu: cpus()[0]?.model, cores: cpus().length };
writeFileSync(join(HERE, "results.json"), `${JSON.stringify({ machine, results }, null, 2)}\n`);
