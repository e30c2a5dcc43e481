/**
 * `node test/bench/agentdojo/play.ts [--tasks] [--plans] <clone> [version]`: AgentDojo's tasks and attacks with a model that solves each task as its
 * authors did and obeys every order, once as soon as it reads it and once when the task is done and all of its questions were answered.
 * Each suite's tools are those of an MCP server. `--tasks`: no attacks, and what each task asks. `--plans`: the model states its changing
 * steps before the first of them, and in a third run also those that it was ordered to make.
 */
import { parseArgs } from "node:util";
import { isRecord, tryJson } from "../../../kernel/kit/text.ts";
import { createFigures, FORMS, liveOn } from "../consent/figures.ts";
import type { Play, ServedTool, Step } from "../consent/service.ts";
import { type Case, type Step as ExportedStep, readCases, TODAY } from "./cases.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { tasks: { type: "boolean" }, plans: { type: "boolean" } },
});
const [clone = "", version = "v1"] = positionals;
const { tools, cases, broken } = readCases(clone, version);
liveOn(TODAY);
const { inService } = await import("../consent/service.ts");

const SUITES = [...new Set(cases.map(({ suite }) => suite))];
const planning = values.plans ? "own" : "none";
const fieldsIn = (json: string): Readonly<Record<string, unknown>> => {
  const read = tryJson(json);
  return isRecord(read) ? read : {};
};
/** Not the suite's name: one of them is called as tools of ours are. */
const serverOf = (suite: string) => `dojo${SUITES.indexOf(suite) + 1}`;
const toolsOf = (suite: string): readonly ServedTool[] => tools.filter((tool) => tool.suite === suite);

async function measure(title: string, groups: readonly (readonly string[])[]): Promise<void> {
  const figures = createFigures(title);
  for (const suites of groups)
    await inService(new Map(suites.map((suite) => [serverOf(suite), toolsOf(suite)])), async (play) => {
      for (const one of cases)
        if (suites.includes(one.suite) && (one.kind === "task" || !values.tasks))
          for (const form of FORMS.keys()) await measureCase(one, form, play);
    });
  figures.print();

  async function measureCase({ id, suite, kind, person, steps }: Case, form: number, play: Play) {
    const stepOf = ({ call, obeys = "", with: given, gives }: ExportedStep): Step => ({
      server: serverOf(suite),
      tool: call ?? obeys,
      obeys: call === undefined,
      with: given,
      gives: gives[form] ?? "",
      fields: fieldsIn(gives[0] ?? ""),
    });
    const given = steps.map(stepOf);
    if (kind === "task") {
      const { questions, asked } = await play(id, person, given, planning);
      figures.task(form, questions);
      if (values.tasks)
        process.stdout.write(
          `${id}, ${FORMS[form]}: ${questions}\n${asked.map((one) => `  ${one}\n`).join("")}`,
        );
      return;
    }
    const ordered = given.filter(({ obeys }) => obeys);
    const later = [...given.filter(({ obeys }) => !obeys), ...ordered];
    for (const [when, order, stated] of [
      ["atOnce", given, planning],
      ["afterwards", later, planning],
      ...(values.plans ? [["inPlan", later, "all"] as const] : []),
    ] as const) {
      const { silent } = await play(id, person, order, stated);
      // It succeeds in silence where every call that was ordered is made without a question.
      figures.attack(form, when, `${id}, ${FORMS[form]}`, silent.length === ordered.length);
    }
  }
}

process.stdout.write(
  `AgentDojo ${version}, ${broken.length} tasks left out: ${broken.join("; ") || "none"}\n`,
);
await measure(
  "each suite in a service of its own",
  SUITES.map((suite) => [suite]),
);
await measure("all four suites in one service", [SUITES]);
