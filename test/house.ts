/** `npm run house`: how large each wing is, what plugins need of each other, what is published, and which functions are long. */
import { parseAst } from "rolldown/parseAst";
import {
  FILES,
  generatedLines,
  IMPORTS,
  isApart,
  isDoor,
  knots,
  linesOf,
  read,
  sum,
  typeCircles,
} from "./support/architecture.ts";

const WINGS = ["kernel", "plugins", "host", "capabilities", "components", "wit"];
const LONG_FUNCTION = 200;
const plugins = [
  ...new Set(FILES.filter((file) => /^plugins\/[^/]+\//.test(file)).map((file) => file.split("/")[1])),
];

const print = (line = "") => process.stdout.write(`${line}\n`);
const row = (name: string, ...figures: readonly (number | string)[]) =>
  print(`  ${name.padEnd(44)}${figures.map((figure) => String(figure).padStart(9)).join("")}`);

print("Lines of source");
for (const wing of WINGS) row(wing, linesOf(wing));
for (const plugin of plugins) row(`plugins/${plugin}`, linesOf(`plugins/${plugin}`));
row("all", sum(WINGS.map(linesOf)));
row("generated, not counted above", generatedLines());
row("files", FILES.length);

print();
printCircles(
  "Circles of folders",
  knots().map(({ folder, entries }) => `${folder}: ${entries.join(" ⇄ ")}`),
);
printCircles(
  "Circles of plugins, by types",
  typeCircles().map((members) => members.join(" ⇄ ")),
);

print();
print("Published names");
const doors = FILES.filter(isDoor).map((file) => [file, exportsOf(file).size] as const);
for (const [file, names] of doors) row(file, names);
row("in all", sum(doors.map(([, names]) => names)));
const past = [...IMPORTS]
  .filter(([file]) => /^(plugins|host)\//.test(file) && !isApart(file))
  .flatMap(([, targets]) => targets.filter((target) => target.startsWith("kernel/") && !isDoor(target)));
row("imports of the kernel past the doors", past.length);

print();
print(
  "Services of a plugin".padEnd(46) + ["needs", "wants", "provides"].map((word) => word.padStart(9)).join(""),
);
for (const file of FILES.filter((one) => /^(host|plugins\/.*)\/plugin\.ts$/.test(one)))
  row(file, ...["needs", "wants", "provides"].map((list) => servicesListed(file, list)));

print();
print(`Functions of more than ${LONG_FUNCTION} lines`);
for (const { file, line, lines } of longFunctions()) row(`${file}:${line}`, lines);

function printCircles(title: string, found: readonly string[]): void {
  print(`${title}: ${found.length === 0 ? "none" : found.length}`);
  for (const circle of found) print(`  ${circle}`);
}

/** How many services a plugin names in this list; some keep their lists as constants in settings.ts. */
function servicesListed(file: string, list: string): number {
  const own = new RegExp(`\\b${list}: \\[([^\\]]*)\\]`).exec(read(file))?.[1];
  const settings = file.replace("plugin.ts", "settings.ts");
  const constant = new RegExp(`\\b${list}: ${list.toUpperCase()}\\b`).test(read(file))
    ? new RegExp(`${list.toUpperCase()} = \\[([^\\]]*)\\]`).exec(read(settings))?.[1]
    : undefined;
  return (own ?? constant ?? "").split(",").filter((name) => name.trim() !== "").length;
}

function longFunctions(): readonly { file: string; line: number; lines: number }[] {
  return FILES.flatMap((file) => {
    const text = read(file);
    const lineAt = (offset: number) => text.slice(0, offset).split("\n").length;
    return functionsIn(parseAst(text, { lang: file.endsWith(".tsx") ? "tsx" : "ts" }))
      .map(({ start, end }) => ({ file, line: lineAt(start), lines: lineAt(end) - lineAt(start) + 1 }))
      .filter(({ lines }) => lines > LONG_FUNCTION);
  }).toSorted((one, other) => other.lines - one.lines);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function functionsIn(node: unknown): readonly Span[] {
  if (Array.isArray(node)) return node.flatMap(functionsIn);
  if (typeof node !== "object" || node === null) return [];
  const { type, start, end } = node as Span & { readonly type?: unknown };
  const inside = Object.values(node).flatMap(functionsIn);
  const isFunction =
    type === "ArrowFunctionExpression" || /^Function(?:Declaration|Expression)$/.test(String(type));
  return isFunction ? [{ start, end }, ...inside] : inside;
}

/** The names that a module exports, `export *` followed. */
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
