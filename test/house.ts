/** `npm run house`: how large each wing is, which folders import each other in a circle, and who uses the kernel past its doors. */
import { FILES, IMPORTS, isApart, isDoor, knots, linesOf, read } from "./support/architecture.ts";

const WINGS = ["kernel", "plugins", "host", "capabilities", "components", "wit"];
const plugins = [
  ...new Set(FILES.filter((file) => /^plugins\/[^/]+\//.test(file)).map((file) => file.split("/")[1])),
];

const print = (line = "") => process.stdout.write(`${line}\n`);
const row = (name: string, figure: number | string) =>
  print(`  ${name.padEnd(44)} ${String(figure).padStart(8)}`);

print("Lines of source");
for (const wing of WINGS) row(wing, linesOf(wing));
for (const plugin of plugins) row(`plugins/${plugin}`, linesOf(`plugins/${plugin}`));
row(
  "all",
  WINGS.reduce((sum, wing) => sum + linesOf(wing), 0),
);

const found = knots();
print();
print(`Knots: ${found.length === 0 ? "none" : found.length}`);
for (const { folder, entries } of found) print(`  ${folder}: ${entries.join(" ⇄ ")}`);

const past = [...IMPORTS]
  .filter(([file]) => /^(plugins|host)\//.test(file) && !isApart(file))
  .flatMap(([, targets]) => targets.filter((target) => target.startsWith("kernel/") && !isDoor(target)));
print();
print("Doors");
row("kernel files imported past the doors", new Set(past).size);
row("places that do so", past.length);
for (const door of FILES.filter(isDoor)) row(`names in ${door}`, exportsOf(door).size);

print();
print("Services that a plugin's start provides");
for (const file of FILES.filter((one) => /^(host|plugins\/.*)\/plugin\.ts$/.test(one))) {
  const [, list = ""] = /provides: \[([^\]]*)\]/.exec(read(file)) ?? [];
  row(file, list.split(",").filter((name) => name.trim() !== "").length);
}

print();
row(
  "lines with ALTER TABLE",
  FILES.reduce((sum, file) => sum + (read(file).match(/ALTER TABLE/g)?.length ?? 0), 0),
);
row("files", FILES.length);

/** The names a module exports, `export *` followed. */
function exportsOf(file: string): ReadonlySet<string> {
  const text = read(file);
  const names = new Set<string>();
  for (const [, list = ""] of text.matchAll(/export (?:type )?\{([^}]*)\}/g))
    for (const name of list.split(",")) if (name.trim()) names.add(name.trim().replace(/^type |^.* as /, ""));
  for (const [, name] of text.matchAll(
    /^export (?:async )?(?:abstract )?(?:interface|type|class|const|function) (\w+)/gm,
  ))
    names.add(name as string);
  for (const [, target] of text.matchAll(/export (?:type )?\* from "([^"]+)"/g))
    for (const name of exportsOf(new URL(target as string, `file:///${file}`).pathname.slice(1)))
      names.add(name);
  return names;
}
