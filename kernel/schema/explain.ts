/** From Ajv's errors to those worth reading: of a `oneOf` or `anyOf`, what the branch that was meant says. */
import type { ErrorObject } from "ajv";
import { joinRequirements, oneOfWords, problemOf, show, valuesOf } from "./error-words.ts";
import { type AuthorWords, below, type Mistake, writePath } from "./mistake.ts";

// A value can be wrong in thousands of places, and comparing what its branches say takes time for each.
const EXPLAINED_ERRORS = 200;
const BRANCHING = new Set(["oneOf", "anyOf"]);
/** They only say that something inside them is wrong, which has an error of its own. */
const WRAPPERS = new Set([...BRANCHING, "if", "propertyNames"]);
const KINDS = new Set(["type", "const", "enum"]);

const NO_WORDS: AuthorWords = () => undefined;

export function explain(
  all: readonly ErrorObject[],
  value: unknown,
  { at = "", authorWords = NO_WORDS }: { readonly at?: string; readonly authorWords?: AuthorWords } = {},
): readonly Mistake[] {
  const errors = all.slice(0, EXPLAINED_ERRORS);
  const mistakeOf = (error: ErrorObject): Mistake => ({
    path: pathOf(error, value, at),
    problem: problemOf(error, authorWords),
  });
  const hidden = new Set<ErrorObject>();
  const found = new Map<ErrorObject, readonly Mistake[]>();
  // An outer choice comes after those inside it, and decides which of them matter.
  for (const union of errors.toReversed()) {
    if (!isUndecided(union) || hidden.has(union)) continue;
    const { mistakes, dropped } = decide(union, errors, mistakeOf);
    for (const error of dropped) hidden.add(error);
    if (mistakes.length > 0) found.set(union, mistakes);
  }
  const told = errors.flatMap((error) => {
    if (hidden.has(error)) return [];
    return found.get(error) ?? (isWrapper(error) ? [] : [mistakeOf(error)]);
  });
  return told.length > 0 ? told : errors.map(mistakeOf);
}

/** A value that fits two branches of a `oneOf` has no error in either, so that the choice has to speak itself. */
const isWrapper = ({ keyword, params }: ErrorObject) => WRAPPERS.has(keyword) && !params["passingSchemas"];
const isUndecided = (error: ErrorObject) => BRANCHING.has(error.keyword) && isWrapper(error);

/** If a constant tells which branch was meant, what that one says; if none was, the constants; if unclear, everything. */
function decide(
  union: ErrorObject,
  errors: readonly ErrorObject[],
  mistakeOf: (error: ErrorObject) => Mistake,
): { readonly mistakes: readonly Mistake[]; readonly dropped: readonly ErrorObject[] } {
  const branches = branchesOf(union, errors);
  const everything = [...branches.values()].flat();
  const depthOf = ({ instancePath }: ErrorObject) =>
    instancePath.slice(union.instancePath.length).split("/").length - 1;

  const kinds = [...branches.values()].map((branch) =>
    branch.find((error) => depthOf(error) === 0 && KINDS.has(error.keyword)),
  );
  const wrongKinds = kinds.filter((error) => error !== undefined);
  if (wrongKinds.length === branches.size) {
    const given = show(union.data, true);
    const problem = `${joinRequirements(wrongKinds)}, given ${given}`;
    return { mistakes: [{ ...mistakeOf(union), problem }], dropped: everything };
  }

  const constants = everything.filter((error) => depthOf(error) === 1 && valuesOf(error)?.length === 1);
  const isMeant = (branch: readonly ErrorObject[]) =>
    !branch.some((error) => wrongKinds.includes(error) || constants.includes(error));
  const meant = [...branches.values()].filter(isMeant);
  const [first] = constants;
  if (meant.length === 0 && first !== undefined) {
    const rivals = constants.filter(({ instancePath }) => instancePath === first.instancePath);
    const words = oneOfWords(rivals.flatMap((error) => valuesOf(error) ?? []));
    const given = show(first.data, true);
    return { mistakes: [{ ...mistakeOf(first), problem: `${words}, given ${given}` }], dropped: everything };
  }

  // Without the constant that tells them apart, the fields that were given can.
  const knowing = meant.filter((branch) => !branch.some((error) => depthOf(error) === 0 && isUnknown(error)));
  const candidates = knowing.length > 0 ? knowing : meant;
  if (candidates.length > 1) {
    const mistakes = sharedMistakes(candidates, mistakeOf);
    if (mistakes.length > 0) return { mistakes, dropped: everything };
  }
  const kept = new Set(candidates.flat());
  return { mistakes: [], dropped: everything.filter((error) => !kept.has(error)) };
}

const isUnknown = ({ keyword }: ErrorObject) =>
  keyword === "additionalProperties" || keyword === "unevaluatedProperties";

function sharedMistakes(
  branches: readonly (readonly ErrorObject[])[],
  mistakeOf: (error: ErrorObject) => Mistake,
): readonly Mistake[] {
  const said = branches.map((branch) => {
    const mistakes = branch.filter((error) => !isWrapper(error)).map((error) => mistakeOf(anywhere(error)));
    return new Map(mistakes.map((mistake) => [`${mistake.path} ${mistake.problem}`, mistake]));
  });
  const [first, ...others] = said;
  return [...(first ?? [])]
    .filter(([words]) => others.every((branch) => branch.has(words)))
    .map(([, mistake]) => mistake);
}

/** A field that is missing is so for every branch, though each may want another value in it. */
function anywhere(error: ErrorObject): ErrorObject {
  return error.keyword === "required" ? { ...error, parentSchema: {} } : error;
}

/** The errors of each branch, by its place; a branch that is a reference has its errors under the reference's address. */
function branchesOf(
  union: ErrorObject,
  errors: readonly ErrorObject[],
): ReadonlyMap<number, readonly ErrorObject[]> {
  const nodes = Array.isArray(union.schema) ? (union.schema as readonly unknown[]) : [];
  const references = nodes.flatMap((node, index) => {
    const { $ref } = Object(node) as { readonly $ref?: unknown };
    return typeof $ref === "string" ? [{ prefix: `${$ref}/`, index }] : [];
  });
  const prefix = `${union.schemaPath}/`;
  const indexOf = ({ schemaPath }: ErrorObject): number | undefined =>
    schemaPath.startsWith(prefix)
      ? Number.parseInt(schemaPath.slice(prefix.length), 10)
      : references.find((reference) => schemaPath.startsWith(reference.prefix))?.index;
  const branches = new Map<number, ErrorObject[]>(nodes.map((_, index) => [index, []]));
  for (const error of errors) {
    if (error === union || !isAtOrBelow(error.instancePath, union.instancePath)) continue;
    const index = indexOf(error);
    if (index !== undefined) branches.get(index)?.push(error);
  }
  return branches;
}

const isAtOrBelow = (pointer: string, other: string) => pointer === other || pointer.startsWith(`${other}/`);

function pathOf({ keyword, instancePath, params }: ErrorObject, value: unknown, at: string): string {
  const path = writePath(instancePath, value, at);
  const key =
    keyword === "required"
      ? params["missingProperty"]
      : (params["additionalProperty"] ?? params["unevaluatedProperty"]);
  return typeof key === "string" ? below(path, key) : path;
}
