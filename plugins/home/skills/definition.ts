/** What a SKILL.md says of its skill, and where it differs from the Agent Skills standard (agentskills.io). */
import { type Field, readFrontMatter } from "./front-matter.ts";

export interface SkillDefinition {
  readonly name: string;
  readonly description: string;
  readonly license?: string | undefined;
  readonly compatibility?: string | undefined;
  readonly metadata: ReadonlyMap<string, string>;
  /** The only tools of a turn that follows it; absent where it does not say. */
  readonly allowedTools?: readonly string[] | undefined;
  readonly requiredTools: readonly string[];
  readonly text: string;
  /** What the standard's validator would refuse, each with what to do. The operator's own skills work with them here. */
  readonly problems: readonly string[];
}

const MAX_DESCRIPTION_LENGTH = 1024;
const MAX_COMPATIBILITY_LENGTH = 500;
const MAX_NAME_LENGTH = 64;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** What the operator's own folders may be called. */
const OWN_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/i;
const KEYS = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
/** A name, and what some programs allow with it, which may have spaces: `Bash(git add:*)`. */
const TOOL = /[^\s,()]+(?:\([^()]*\))?/g;

/** `folder`: the name of the folder that it is in; undefined where there is none. Throws where it cannot be used at all. */
export function readDefinition(source: string, folder: string | undefined): SkillDefinition {
  const { fields, text, problems } = readFrontMatter(source);
  const name = (textAt(fields, "name") ?? folder ?? "").trim();
  const description = (textAt(fields, "description") ?? "").trim();
  if (!OWN_NAME.test(name))
    throw new Error(
      `its name ${JSON.stringify(name.slice(0, 80))} may only contain letters, digits, - and _, at most ${MAX_NAME_LENGTH}`,
    );
  if (description === "")
    throw new Error("its front matter has no description: say what it does and when to use it");
  const metadata = fields.get("metadata");
  const allowed = textAt(fields, "allowed-tools");
  return {
    name,
    description: description.slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed(),
    license: textAt(fields, "license"),
    compatibility: textAt(fields, "compatibility"),
    metadata: metadata instanceof Map ? metadata : new Map(),
    allowedTools: allowed === undefined ? undefined : (allowed.match(TOOL) ?? []),
    requiredTools: namesIn(fields.get("required_tools") ?? metadataOf(metadata, "required-tools")),
    text,
    problems: [...problems, ...checkFields(fields, folder)],
  };
}

function checkFields(fields: ReadonlyMap<string, Field>, folder: string | undefined): readonly string[] {
  const found: string[] = [];
  const wrong = [...fields.keys()].filter((key) => !KEYS.includes(key));
  if (wrong.length > 0)
    found.push(
      `its front matter has ${wrong.map(quote).join(", ")}: only ${KEYS.join(", ")} are known; put others below metadata`,
    );
  const [name, description] = [textAt(fields, "name"), textAt(fields, "description")];
  if (name === undefined) found.push(`it has no name: add "name: ${folder ?? "…"}"`);
  else found.push(...checkName(name.trim(), folder));
  if (description !== undefined) found.push(...tooLong("description", description, MAX_DESCRIPTION_LENGTH));
  const compatibility = textAt(fields, "compatibility");
  if (compatibility !== undefined)
    found.push(...tooLong("compatibility", compatibility, MAX_COMPATIBILITY_LENGTH));
  for (const key of ["name", "description", "license", "compatibility", "allowed-tools"])
    if (typeof (fields.get(key) ?? "") !== "string")
      found.push(`its ${key} is not one text: write it in one line`);
  const metadata = fields.get("metadata");
  if (metadata !== undefined && !(metadata instanceof Map))
    found.push("its metadata is not a map: write a line `key: value` for each entry, indented");
  return found;
}

function checkName(name: string, folder: string | undefined): readonly string[] {
  const found = tooLong("name", name, MAX_NAME_LENGTH);
  if (!NAME.test(name))
    return [
      ...found,
      `its name ${quote(name)} is not made of lower-case letters, digits and single hyphens between them`,
    ];
  if (folder === undefined || folder === name) return found;
  return [
    ...found,
    `its folder is called ${quote(folder)}: rename it to ${quote(name)}, or the other way round`,
  ];
}

function tooLong(what: string, text: string, most: number): readonly string[] {
  // As people count: characters beyond the basic plane are one each.
  const { length } = [...text];
  return length > most ? [`its ${what} has ${length} characters; at most ${most} are allowed`] : [];
}

function textAt(fields: ReadonlyMap<string, Field>, key: string): string | undefined {
  const field = fields.get(key);
  return typeof field === "string" ? field : undefined;
}

function metadataOf(metadata: Field | undefined, key: string): string {
  return metadata instanceof Map ? (metadata.get(key) ?? "") : "";
}

function namesIn(field: Field): readonly string[] {
  const texts = typeof field === "string" ? [field] : [...field.values()];
  return texts.flatMap((text) => text.split(/[\s,]+/)).filter((name) => name !== "");
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80));
}
