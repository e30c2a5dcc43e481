/** Figures as rows, for the terminal and for the page. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../kernel/package.ts";
import type { Figure } from "./bench.ts";

export interface Result {
  readonly about: string;
  readonly seconds: number;
  readonly figures: readonly Figure[];
}

export interface Run {
  readonly at: string;
  readonly machine: Readonly<Record<string, string | number | undefined>>;
  readonly results: Readonly<Record<string, Result>>;
}

const PAGE = join(import.meta.dirname, "..", "README.md");
const README = join(ROOT, "README.md");
const TABLES = "the last run";
const SUMMARY = "the last run in two sentences";

export const number = (value: number) =>
  value >= 100
    ? Math.round(value).toLocaleString("en")
    : String(Number(value.toPrecision(value < 1 ? 2 : 3)));
export const noise = (spread: number) => `±${Math.round(spread * 100)} %`;

/** A row whose first cell is empty is the head of those below it. */
export function toRows(figures: readonly Figure[]): string[][] {
  const grid = figures.filter(({ column }) => column !== undefined);
  const list = figures.filter(({ column }) => column === undefined);
  return [...toGrid(grid), ...(list.length > 0 ? toList(list) : [])];
}

function toList(figures: readonly Figure[]): string[][] {
  const rows = figures.map(({ name, median, spread, unit, ratio, target }) => [
    name,
    `${number(median)} ${unit}`,
    noise(spread),
    `${number(ratio)}×`,
    target ? `${target.words}: ${target.met ? "met" : "NOT MET"}` : "",
  ]);
  return [["", "median", "noise", "beside", "target"], ...rows];
}

/** One row for each name. Where contestants change so does the head, which is then said again. */
function toGrid(figures: readonly Figure[]): string[][] {
  const rows: string[][] = [];
  let head = "";
  for (const [name, group = []] of Map.groupBy(figures, (figure) => figure.name)) {
    const [first, ...others] = group;
    const columns = ["", ...group.map(({ column = "" }) => column), "noise up to"];
    // A contestant that sits out one row does not change the head.
    if (!columns.every((column) => head.includes(column))) {
      rows.push(columns);
      head = columns.join("\n");
    }
    const shown = head.split("\n").slice(2, -1);
    const cells = shown.map((column) => {
      const found = others.find((other) => other.column === column);
      return found ? `${number(found.ratio)}×` : "–";
    });
    const worst = Math.max(...group.map(({ spread }) => spread));
    rows.push([name, first ? `${number(first.median)} ${first.unit}` : "", ...cells, noise(worst)]);
  }
  return rows;
}

export function targetsOf({ results }: Run): { readonly met: number; readonly missed: readonly string[] } {
  const all = Object.entries(results).flatMap(([bench, { figures }]) =>
    figures.flatMap(({ name, target }) => (target ? [{ bench, name, ...target }] : [])),
  );
  const missed = all.filter(({ met }) => !met).map(({ bench, name, words }) => `${bench}, ${name}: ${words}`);
  return { met: all.length - missed.length, missed };
}

/** Puts the tables of a run into the page, and a summary of them into the README, each between its two marks. */
export function writePage(run: Run): void {
  const { at, machine, results } = run;
  const { met, missed } = targetsOf(run);
  const tables = Object.entries(results).map(
    ([name, { about, figures }]) =>
      `### ${name}\n\n${about[0]?.toUpperCase()}${about.slice(1)}.\n\n${toMarkdown(figures)}`,
  );
  const facts = Object.entries(machine).map(([key, value]) => `${key} ${value}`);
  const text = [
    `${at.slice(0, 10)}; ${facts.join(", ")}. ${met} targets met, ${missed.length} not met${missed.map((one) => `; ${one}`).join("")}.`,
    ...tables,
  ].join("\n\n");
  const page = withBlock(readFileSync(PAGE, "utf8"), TABLES, text);
  const readme = withBlock(readFileSync(README, "utf8"), SUMMARY, summarise(page));
  writeFileSync(PAGE, page);
  writeFileSync(README, readme);
}

/** What the README says of the last run, from the tables of the page; and what it should say. */
export function readSummary(): { readonly found: string; readonly expected: string } {
  return {
    found: blockOf(readFileSync(README, "utf8"), SUMMARY),
    expected: summarise(readFileSync(PAGE, "utf8")),
  };
}

function summarise(page: string): string {
  const tables = blockOf(page, TABLES);
  const cells = (bench: string, name: string): readonly string[] => {
    const [, table = ""] = tables.split(`### ${bench}\n`);
    const row = table
      .split("\n### ")[0]
      ?.split("\n")
      .find((line) => line.startsWith(`| ${name} |`));
    if (row === undefined) throw new Error(`the last run has no figure "${name}" of the bench ${bench}`);
    return row.split(" | ").slice(1);
  };
  const [turns = "", , besideRoute = ""] = cells("responses", "turns, 32 callers");
  const [clean = ""] = cells("tool-call", "latency, 20 ms apart: clean");
  const [process = ""] = cells("tool-call", "latency, 20 ms apart: process");
  const [, date, cores] = /^([\d-]+);.*? on (\d+ cores)/.exec(tables) ?? [];
  return `In the last run of all benchmarks (${date}, ${cores}) it handled ${turns.replace(" /s", "")} turns a second through the Responses API,
${besideRoute} of what a bare route does. A tool call with a clean instance took ${clean}, a process for each call ${process}. [Benchmarks](test/bench/README.md)`;
}

const marksOf = (name: string) => [`<!-- ${name} begins -->`, `<!-- ${name} ends -->`] as const;

function blockOf(page: string, name: string): string {
  const [begin, end] = marksOf(name);
  const [before = "", after] = page.split(begin);
  const [block, rest] = after?.split(end) ?? [];
  if (block === undefined || rest === undefined) throw new Error(`"${before.slice(0, 40)}…" has no ${begin}`);
  return block.trim();
}

function withBlock(page: string, name: string, text: string): string {
  const [begin, end] = marksOf(name);
  return page.replace(`${begin}\n\n${blockOf(page, name)}\n\n${end}`, () => `${begin}\n\n${text}\n\n${end}`);
}

function toMarkdown(figures: readonly Figure[]): string {
  const line = (row: readonly string[]) => `| ${row.join(" | ")} |`;
  return toRows(figures)
    .flatMap((row, index) => {
      if (row[0] !== "") return [line(row)];
      const rule = line(row.map(() => "---"));
      return index === 0 ? [line(row), rule] : ["", line(row), rule];
    })
    .join("\n");
}
