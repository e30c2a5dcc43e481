/**
 * A plan: several changing calls that the model states before it makes them, so that the person is asked once. A yes allows each step once,
 * with the values that they were shown, and what an earlier step's own answer gives in their place.
 */
import { isRecord } from "../../../kernel/kit/text.ts";
import type { JsonSchema, ToolInfo } from "../../../kernel/plugin.ts";
import { contains, listedIn, type SaidText } from "../outputs/search.ts";
import { fieldOf, givenBy } from "./carried-consent.ts";
import { isAddress } from "./param-roles.ts";
import { type Leaf, leavesOf } from "./param-values.ts";
import { type Action, subjectsOf, takesAway } from "./requested-action.ts";

export const PLAN_TOOL = "plan_steps";
const MAX_STEPS = 20;
/** A longer value is asked about by itself: nobody would read it among the others. */
const MAX_SHOWN = 1000;
const REFERENCE = /\{\{(\d{1,2})\.([A-Za-z_]\w{0,63})\}\}/g;
const WHOLE_REFERENCE = new RegExp(`^${REFERENCE.source}$`);
/** An id or number as a tool answers it. */
const TOKEN = /^[\p{L}\p{N}](?:[\p{L}\p{N}_.-]{0,62}[\p{L}\p{N}])?$/u;

export const PLAN_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    steps: {
      type: "array",
      minItems: 2,
      maxItems: MAX_STEPS,
      items: {
        type: "object",
        properties: {
          tool: { type: "string" },
          params: { type: "object", additionalProperties: true },
        },
        required: ["tool", "params"],
        additionalProperties: false,
      },
    },
  },
  required: ["steps"],
  additionalProperties: false,
};

export interface Step {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export function stepsOf(params: unknown): readonly Step[] {
  const steps = isRecord(params) && Array.isArray(params["steps"]) ? params["steps"] : [];
  return steps
    .slice(0, MAX_STEPS)
    .flatMap((step: unknown) =>
      isRecord(step) && typeof step["tool"] === "string" && isRecord(step["params"])
        ? [{ tool: step["tool"], params: step["params"] }]
        : [],
    );
}

export const leavesOfStep = ({ schema, params: roles }: ToolInfo, { params }: Step): readonly Leaf[] =>
  leavesOf({ schema, params, roles });

const textOf = ({ value }: Pick<Leaf, "value">): string => String(value);
const refersTo = (leaf: Leaf): boolean => textOf(leaf).search(REFERENCE) !== -1;

/** True for a value that a yes to the plan allows. What is filled in later is no place to go to. */
export function isCovered(leaf: Leaf): boolean {
  if (leaf.isRest || textOf(leaf).length > MAX_SHOWN) return false;
  return !refersTo(leaf) || (leaf.role !== "destination" && !leaf.leadsOut);
}

/** True for a value that is nothing but what a step before this one answers. */
export function isGivenBefore({ value }: Leaf, at: number): boolean {
  const [, step] = WHOLE_REFERENCE.exec(String(value)) ?? [];
  return step !== undefined && Number(step) >= 1 && Number(step) <= at;
}

/** The value as a person reads it, with what is filled in later named by its source. */
export const sayReferences = (value: string): string =>
  value.replace(REFERENCE, (_, step: string, field: string) => `⟨${field} of step ${step}⟩`);

/** The fields in which a list says what a thing is called. */
const NAMING = ["name", "title", "subject", "summary"];

/** What the answers that list a thing call it, if they agree: the server's own, or a stranger's, words. */
export function nameIn(leaf: Leaf, owned: readonly SaidText[]): string | undefined {
  if (leaf.role !== "selector") return undefined;
  const names = new Set(
    owned.flatMap((one) =>
      (listedIn(one).values.get(textOf(leaf)) ?? [])
        .filter((record) => fieldOf(record, leaf.name) === leaf.value)
        .map((record) => NAMING.flatMap((name) => fieldOf(record, name) ?? [])[0]),
    ),
  );
  const [name] = names;
  return names.size === 1 && typeof name === "string" && name !== leaf.value ? name : undefined;
}

/** A changing call that was made since the yes, with what it answered. */
interface MadeCall {
  readonly tool: ToolInfo;
  readonly owner: string;
  readonly asked: unknown;
  readonly text: string;
  readonly at: number;
}

interface Spoken {
  readonly at?: number;
  readonly text: string;
  readonly asked: unknown;
}

interface Calling {
  readonly tool: ToolInfo;
  readonly owner: string;
  readonly params: unknown;
}

interface Agreed {
  readonly steps: readonly Step[];
  /** The calls since then, whether they have answered yet or not. */
  readonly made: readonly MadeCall[];
  readonly begun: readonly { readonly tool: string; readonly params: unknown }[];
  readonly heard: readonly Spoken[];
}

/** Returns the step that the call is, with the places of the values that it allows. A step that was made before is over. */
export function stepFor(
  { tool, owner, params }: Calling,
  { steps, made, begun, heard }: Agreed,
): { readonly step: Step; readonly covered: ReadonlySet<string> } | undefined {
  const answers = new Map<number, MadeCall | undefined>();
  const answerOf = (nr: number): MadeCall | undefined => {
    if (!answers.has(nr)) {
      const step = steps[nr];
      answers.set(nr, undefined);
      const found = made.find(
        (one) => step?.tool === one.tool.name && fits(nr, one.tool, one.owner, one.asked),
      );
      answers.set(nr, found);
    }
    return answers.get(nr);
  };
  /** What the earlier step's own answer gives, if nobody had spoken of it before. */
  const filledIn = (nr: number, field: string, leaf: Leaf, to: Action): string | undefined => {
    const from = answerOf(nr);
    if (from === undefined || (leaf.role === "selector" && from.owner !== to.owner)) return undefined;
    // What is taken away has to be named by a field: in prose somebody may have named it.
    if (takesAway(to) && !from.text.trimStart().startsWith("{")) return undefined;
    const value = givenBy(from.text, field, subjectsOf(from.tool.server?.tool ?? from.tool.name, from.owner));
    if (value === undefined || !TOKEN.test(value) || isAddress(value)) return undefined;
    const isIn = contains(value);
    const isKnown = heard.some(
      (one) =>
        ((one.at ?? -1) < from.at && isIn(one)) ||
        ((one.at ?? -1) <= from.at && isIn({ text: JSON.stringify(one.asked ?? "") })),
    );
    return isKnown ? undefined : value;
  };
  const fits = (
    nr: number,
    called: ToolInfo,
    to: string,
    given: unknown,
  ): ReadonlySet<string> | undefined => {
    const step = steps[nr];
    if (step === undefined || step.tool !== called.name) return undefined;
    const planned = leavesOfStep(called, step);
    const values = new Map(
      leavesOfStep(called, { tool: called.name, params: isRecord(given) ? given : {} }).map((leaf) => [
        leaf.at,
        leaf,
      ]),
    );
    const covered = new Set<string>();
    const action = { name: called.server?.tool ?? called.name, owner: to };
    for (const leaf of planned) {
      const one = values.get(leaf.at);
      if (one === undefined || one.isRest) return undefined;
      if (!isCovered(leaf)) continue;
      let isWhole = true;
      const text = textOf(leaf).replace(REFERENCE, (_, from: string, field: string) => {
        const value = Number(from) <= nr ? filledIn(Number(from) - 1, field, leaf, action) : undefined;
        isWhole &&= value !== undefined;
        return value ?? "";
      });
      const isSame = refersTo(leaf) ? isWhole && text === textOf(one) : one.value === leaf.value;
      if (!isSame) return undefined;
      covered.add(leaf.at);
    }
    const places = new Set(planned.map(({ at }) => at));
    // They did not see where else it goes.
    const isElsewhere = [...values.values()].some(
      ({ at, role }) => role === "destination" && !places.has(at),
    );
    return isElsewhere ? undefined : covered;
  };
  for (const [nr, step] of steps.entries()) {
    const covered = fits(nr, tool, owner, params);
    if (covered === undefined || answerOf(nr) !== undefined) continue;
    const isBegun = begun.some(
      (one) => one.tool === tool.name && fits(nr, tool, owner, one.params) !== undefined,
    );
    if (!isBegun) return { step, covered };
  }
  return undefined;
}
