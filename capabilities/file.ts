/** Reads a file that grants something, and reports all its problems at once. */
export interface FileProblem {
  /** The place in the file, such as `http.allowlist[0].methods[1]`; empty for the whole file. */
  readonly path: string;
  /** Says what is accepted and what was given, such as `must be between 1 and 600, given 0`. */
  readonly problem: string;
}

/** The message lists all problems. */
export class FileError extends Error {
  readonly problems: readonly FileProblem[];

  /** `file` names it at the beginning of a sentence. */
  constructor(file: string, problems: readonly FileProblem[]) {
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    const lines = problems.map(({ path, problem }) => `  ${path || "(the file)"}: ${problem}`);
    super(`${file} has ${count}.\n${lines.join("\n")}`);
    this.problems = problems;
  }
}

type SchemaNode = Readonly<Record<string, unknown>>;

/** Compiles a schema into a check. Passed in, because this folder imports nothing of ours. */
export type SchemaChecker = (
  schema: SchemaNode,
  options: { readonly authorWords: (node: SchemaNode) => string | undefined },
) => (value: unknown) => readonly FileProblem[];

export interface FileForm<File> {
  readonly schema: SchemaNode & { readonly $defs: object };
  readonly compile: SchemaChecker;
  /** Spells out characters that nobody sees or a terminal acts on; a file may have none of them. */
  readonly show: (text: string) => string;
  /** Checks that the schema cannot express. */
  readonly contradictions: (file: File) => readonly FileProblem[];
  readonly refuse: (problems: readonly FileProblem[]) => Error;
}

/** The reader takes a file as text or as parsed JSON. */
export function createFileReader<File>(form: FileForm<File>): (source: unknown) => File {
  const { schema, show, contradictions, refuse } = form;
  const check = form.compile(schema, { authorWords: (node) => authorWords(schema.$defs, node) });
  return (source) => {
    const [json, broken] = typeof source === "string" ? parseJson(source) : [source];
    if (broken !== undefined) throw refuse([broken]);
    // Checked first, since other problems quote what was given.
    const hidden = hiddenCharacters(json, show);
    if (hidden.length > 0) throw refuse(hidden);
    const mistakes = check(json);
    if (mistakes.length > 0) throw refuse(mistakes);
    const file = json as File;
    const problems = contradictions(file);
    if (problems.length > 0) throw refuse(problems);
    return file;
  };
}

export function toRateLimit(limit: { requests_per_minute?: number; requests_per_hour?: number } = {}) {
  const { requests_per_minute: perMinute = 60 } = limit;
  return { perMinute, perHour: limit.requests_per_hour ?? Math.max(500, perMinute) };
}

/** People approve a file as they see it, so characters that they would not see are refused, in names and values. */
function hiddenCharacters(file: unknown, show: (text: string) => string): FileProblem[] {
  const problems: FileProblem[] = [];
  const refuse = (path: string, text: string) => {
    const shown = show(text);
    if (shown !== text) {
      const problem = `must not hold control, direction-changing or invisible characters, given "${shown}"`;
      problems.push({ path, problem });
    }
  };
  // A list instead of recursion, since a file may nest deeply.
  const waiting: { readonly value: unknown; readonly path: string }[] = [{ value: file, path: "" }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, path } = next;
    if (typeof value === "string") refuse(path, value);
    if (typeof value !== "object" || value === null) continue;
    for (const [name, item] of Object.entries(value)) {
      const at = Array.isArray(value) ? `${path}[${name}]` : `${path}${path === "" ? "" : "."}${show(name)}`;
      refuse(at, name);
      waiting.push({ value: item, path: at });
    }
  }
  return problems;
}

function parseJson(text: string): [unknown, FileProblem?] {
  try {
    return [JSON.parse(text.replace(/^\uFEFF/, ""))];
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [undefined, { path: "", problem: `must be a JSON object: ${why}` }];
  }
}

/** Schema descriptions that start with an article say what the value must be; the others say what it is for. */
function authorWords(definitions: object, node: SchemaNode): string | undefined {
  const { $ref, description, enum: values } = node;
  if (typeof $ref === "string") {
    const name = $ref.slice("#/$defs/".length);
    return authorWords(definitions, (definitions as Readonly<Record<string, SchemaNode>>)[name] ?? {});
  }
  if (typeof description !== "string" || !/^(?:an?|the) /.test(description)) return undefined;
  return `must be ${description}${Array.isArray(values) ? `: one of ${values.join(", ")}` : ""}`;
}
