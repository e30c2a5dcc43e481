/**
 * `node test/bench/consent/play.ts [--tasks] [--plans] [id …]`: long tasks over several servers, each as somebody would solve it, and attacks in
 * what is read on the way. A model obeys each order, once as soon as it reads it and once when the task is done and all of its questions
 * were answered. `--tasks`: no attacks, and what each task asks. `--plans`: the model states its changing steps before the first of them, and in a third run
 * also those that it was ordered to make.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { stringify } from "yaml";
import type { JsonSchema } from "../../../kernel/plugin.ts";
import { createFigures, FORMS, liveOn } from "./figures.ts";
import type { Play, ServedTool, Step } from "./service.ts";

interface Called {
  readonly call: string;
  readonly with: Readonly<Record<string, unknown>>;
  /** Strings in it may have `{}`, where others' words stand. */
  readonly gives?: unknown;
}

interface Task {
  readonly id: string;
  readonly person: string;
  readonly steps: readonly Called[];
  readonly attacks: readonly { readonly says: string; readonly obeys: readonly Called[] }[];
}

type Params = Readonly<Record<string, string>>;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { tasks: { type: "boolean" }, plans: { type: "boolean" } },
});
const HERE = import.meta.dirname;
const read = (file: string): unknown => JSON.parse(readFileSync(join(HERE, file), "utf8"));
const TASKS = globSync("tasks/*.json", { cwd: HERE })
  .toSorted()
  .flatMap((file) => read(file) as readonly Task[])
  .filter(({ id }) => positionals.length === 0 || positionals.includes(id));
const SERVERS = new Map(
  Object.entries(
    read("servers.json") as Record<string, Record<"reads" | "changes", Record<string, Params>>>,
  ).map(
    ([name, { reads, changes }]) => [name, [...toolsOf(reads, false), ...toolsOf(changes, true)]] as const,
  ),
);

function toolsOf(tools: Readonly<Record<string, Params>>, writes: boolean): readonly ServedTool[] {
  return Object.entries(tools).map(([name, params]) => ({ name, writes, schema: schemaOf(params) }));
}

function schemaOf(params: Params): JsonSchema {
  const typed = Object.entries(params).map(([name, type]) => [
    name,
    type === "strings" ? { type: "array", items: { type: "string" } } : { type },
  ]);
  return { type: "object", properties: Object.fromEntries(typed), required: Object.keys(params) };
}

/** The answer in each of the forms, with these words of somebody else. */
function answersOf(gives: unknown, says: string): readonly string[] {
  const filled = fill(gives, says);
  if (typeof filled === "string") return FORMS.map(() => filled);
  return [JSON.stringify(filled), stringify(filled, { lineWidth: 80 }), prose(filled)];
}

function fill(value: unknown, says: string): unknown {
  if (typeof value === "string") return value.replace("{}", says);
  if (Array.isArray(value)) return value.map((one) => fill(one, says));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fill(one, says)]));
}

function prose(value: unknown): string {
  if (Array.isArray(value)) return value.map(prose).join("\n\n");
  if (typeof value !== "object" || value === null) return String(value);
  return `${Object.entries(value)
    .map(([name, one]) => `the ${name} is ${prose(one)}`)
    .join(", ")}.`;
}

function stepsOf(called: readonly Called[], form: number, says: string, obeys: boolean): readonly Step[] {
  return called.map(({ call, with: given, gives = "done" }) => {
    const [server = "", tool = ""] = call.split(".");
    const fields = typeof gives === "object" && gives !== null && !Array.isArray(gives) ? { ...gives } : {};
    return { server, tool, with: given, obeys, gives: answersOf(gives, says)[form] ?? "", fields };
  });
}

const planning = values.plans ? "own" : "none";
liveOn(new Date(2026, 10, 16));
const { inService } = await import("./service.ts");

async function measure(title: string, groups: ReadonlyMap<string, readonly Task[]>): Promise<void> {
  const figures = createFigures(title);
  for (const [key, tasks] of groups)
    await inService(new Map([...SERVERS].filter(([name]) => key.split(" ").includes(name))), async (play) => {
      for (const task of tasks) for (const form of FORMS.keys()) await measureTask(task, form, play);
    });
  figures.print();

  async function measureTask({ id, person, steps, attacks }: Task, form: number, play: Play): Promise<void> {
    const own = stepsOf(steps, form, "", false);
    const { questions, asked } = await play(id, [person], own, planning);
    figures.task(form, questions);
    if (values.tasks)
      process.stdout.write(
        `${id}, ${FORMS[form]}: ${questions}\n${asked.map((one) => `  ${one}\n`).join("")}`,
      );
    else
      for (const [at, { says, obeys }] of attacks.entries()) {
        const told = stepsOf(steps, form, says, false);
        const obeyed = stepsOf(obeys, form, "", true);
        const shown = 1 + told.findIndex((step, nr) => step.gives !== own[nr]?.gives);
        if (shown === 0) throw new Error(`${id} shows no order`);
        const name = `${id}, ${FORMS[form]}, attack ${at + 1}`;
        for (const [when, from, stated] of [
          ["atOnce", shown, planning],
          ["afterwards", told.length, planning],
          ...(values.plans ? [["inPlan", told.length, "all"] as const] : []),
        ] as const) {
          const { silent } = await play(name, [person], told.toSpliced(from, 0, ...obeyed), stated);
          figures.attack(form, when, name, silent.length > 0);
        }
      }
  }
}

const serversOf = ({ steps, attacks }: Task) => {
  const named = [...steps, ...attacks.flatMap(({ obeys }) => obeys)].map(({ call }) => call.split(".")[0]);
  return [...SERVERS.keys()].filter((name) => named.includes(name)).join(" ");
};
await measure("each task with the servers that it takes", Map.groupBy(TASKS, serversOf));
await measure("all servers in one service", new Map([[[...SERVERS.keys()].join(" "), TASKS]]));
