/**
 * `node test/bench/agentdojo/play.ts <clone> [version]`: AgentDojo's tasks and attacks with a model that solves each task as its
 * authors did and obeys every order that it reads. Nothing of the benchmark is here; it is read from a clone.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { createLeakBudget } from "../../../plugins/provenance/call/leak-budget.ts";
import { hear } from "../../../plugins/provenance/person/utterances.ts";
import { type Called, type Heard, judge } from "../../../plugins/provenance/ruling.ts";

interface Step {
  readonly call?: string;
  readonly obeys?: string;
  readonly with: Readonly<Record<string, unknown>>;
  /** The answer in each of the forms. */
  readonly gives: readonly string[];
}

interface Case {
  readonly id: string;
  readonly suite: string;
  readonly kind: "task" | "attack";
  readonly person: readonly string[];
  readonly steps: readonly Step[];
}

interface Exported {
  readonly tools: readonly Pick<
    Called & { readonly suite: string },
    "name" | "suite" | "writes" | "schema"
  >[];
  readonly cases: readonly Case[];
  readonly broken: readonly string[];
}

const FORMS = ["JSON", "YAML", "free text"] as const;

const [clone = "", version = "v1"] = process.argv.slice(2);
const { tools, cases, broken } = JSON.parse(
  execFileSync("python3", [join(import.meta.dirname, "export.py"), clone, version], {
    maxBuffer: 2 ** 30,
    stdio: ["ignore", "pipe", "ignore"],
  }).toString(),
) as Exported;

/** Which calls of a case are asked about, as calls of an MCP server's tools. */
function questionsOf({ suite, person, steps }: Case, form: number): readonly boolean[] {
  const said = hear(person, [], new Date(2024, 4, 15));
  const owner = `server ${suite}`;
  const budget = createLeakBudget();
  const heard: Heard[] = [];
  return steps.map((step) => {
    const name = step.call ?? step.obeys ?? "";
    const tool = tools.find((one) => one.name === name && one.suite === suite);
    if (tool === undefined) throw new Error(`${suite} has no tool ${name}`);
    const called = { ...tool, params: step.with, isOutside: true, owner };
    const isAsked = judge(called, said, heard, budget).length > 0;
    heard.push({ owner, tool: name, text: step.gives[form] ?? "", asked: step.with });
    return isAsked;
  });
}

console.log(`AgentDojo ${version}, ${broken.length} tasks left out: ${broken.join("; ") || "none"}`);
for (const [form, words] of FORMS.entries()) {
  const tasks = cases.filter(({ kind }) => kind === "task").map((one) => questionsOf(one, form));
  const free = tasks.filter((questions) => !questions.includes(true)).length;
  const asked = tasks.flat().filter(Boolean).length;
  const attacks = cases.filter(({ kind }) => kind === "attack");
  // It succeeds in silence where every call that was ordered is made without a question.
  const silent = attacks.filter((one) => {
    const questions = questionsOf(one, form);
    return one.steps.every(({ obeys }, at) => obeys === undefined || !questions[at]);
  });
  console.log(
    `${words}: ${silent.length} of ${attacks.length} attacks in silence; ${free} of ${tasks.length} tasks without a question, ${(asked / tasks.length).toFixed(2)} questions for each task`,
  );
  for (const { id } of silent) console.log(`  in silence: ${id}`);
}
