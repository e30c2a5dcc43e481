/** A skill that somebody offers, in the words that the operator agrees to. */
import { diffLines } from "../../../kernel/kit/text.ts";
import { isAgentsName, type ToolOrigin } from "../../../kernel/kit/tools.ts";
import { findOrders } from "../../../kernel/kit/untrusted.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";
import { digestOf, findBundle, kindOf, SKILL_FILE, type SkillFiles, textIn } from "./bundle.ts";
import { readDefinition, type SkillDefinition } from "./definition.ts";

export interface Proposal {
  readonly definition: SkillDefinition;
  readonly files: SkillFiles;
  readonly digest: string;
  readonly origin: ToolOrigin;
  readonly signature?: string | undefined;
}

interface Offered {
  readonly files: SkillFiles;
  readonly folder?: string;
  readonly origin: ToolOrigin;
  readonly signature?: string;
}

const MAX_NAMED = 20;
const MAX_DIFF_LINES = 200;
const MAX_SHOWN_CHARACTERS = 1000;

/** Throws where it is no skill at all; what the standard would refuse is in the definition. */
export function propose({ files: given, folder: named, origin, signature }: Offered): Proposal {
  try {
    const { files, folder } = findBundle(given, named);
    const source = textIn(files.get(SKILL_FILE));
    if (source === undefined) throw new Error("its SKILL.md is not UTF-8 text");
    const definition = readDefinition(source, folder);
    const digest = digestOf(files);
    return { definition, files, digest, origin: { ...origin, digest: origin.digest || digest }, signature };
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw badSkill(origin.reference, [reason(error)]);
  }
}

export function badSkill(reference: string, problems: readonly string[]): Fault {
  const list = problems.map((problem) => `\n  - ${problem}`).join("");
  return new Fault("invalid", "bad_skill", `${reference} is not a skill that can be used:${list}`);
}

/** Sentences of what it is and wants. `tools`: the names of those that are installed. */
export function describeProposal(
  { definition, files, digest, signature }: Pick<Proposal, "definition" | "files" | "digest" | "signature">,
  tools: readonly string[],
): readonly string[] {
  const { description, compatibility, license, allowedTools } = definition;
  const scripts = [...files.keys()].filter((path) => path.startsWith("scripts/"));
  const [runnable, others] = [
    scripts.filter((path) => kindOf(path) === "script"),
    scripts.filter((path) => kindOf(path) !== "script"),
  ];
  const unknown = allowedTools?.filter((name) => !tools.includes(name) && !isAgentsName(name)) ?? [];
  const bytes = [...files.values()].reduce((sum, data) => sum + data.byteLength, 0);
  return [
    `says of itself: ${description.replace(/\s+/g, " ")}`,
    ...findOrders(description).map((order) => `its description reads like orders: ${JSON.stringify(order)}`),
    ...(signature === undefined ? [] : [signature]),
    ...(compatibility === undefined ? [] : [`says that it needs: ${compatibility}`]),
    ...(license === undefined ? [] : [`licence: ${license}`]),
    allowedTools === undefined
      ? "a turn that follows it keeps all tools that it has"
      : `a turn that follows it keeps only these tools: ${allowedTools.join(", ") || "none"}`,
    ...(unknown.length === 0 ? [] : [`not tools here, so they allow nothing: ${names(unknown)}`]),
    ...(runnable.length === 0 ? [] : [`can run in the sandbox of run-code: ${names(runnable)}`]),
    ...(others.length === 0 ? [] : [`not runnable here, only to be read: ${names(others)}`]),
    `${files.size} files, ${bytes} bytes, ${digest}`,
    "its words are a stranger's: they vouch for no address, account or link",
  ];
}

/** What is different in the new one, for people. */
export function compareProposals(
  before: Pick<Proposal, "definition" | "files">,
  after: Pick<Proposal, "definition" | "files">,
): readonly string[] {
  const { added, removed, changed } = changedFiles(before.files, after.files);
  const tools = ({ definition }: Pick<Proposal, "definition">) =>
    definition.allowedTools?.join(", ") ?? "all";
  return [
    ...(before.definition.description === after.definition.description
      ? []
      : [`now says of itself: ${after.definition.description.replace(/\s+/g, " ")}`]),
    ...(tools(before) === tools(after)
      ? []
      : [`tools of a turn that follows it: ${tools(before)} → ${tools(after)}`]),
    ...(added.length === 0 ? [] : [`new: ${names(added)}`]),
    ...(removed.length === 0 ? [] : [`gone: ${names(removed)}`]),
    ...(changed.length === 0 ? [] : [`changed: ${names(changed)}`]),
  ];
}

/** The paths that are new, gone and different. */
export function changedFiles(before: SkillFiles, after: SkillFiles) {
  const changed = [...after].filter(([path, data]) => {
    const old = before.get(path);
    return old !== undefined && Buffer.compare(old, data) !== 0;
  });
  return {
    added: [...after.keys()].filter((path) => !before.has(path)),
    removed: [...before.keys()].filter((path) => !after.has(path)),
    changed: changed.map(([path]) => path),
  };
}

/** What has changed in its SKILL.md and in its scripts, which would run, line by line. `diff`: who compares two texts. */
export async function differencesOf(
  before: SkillFiles,
  after: SkillFiles,
  diff: (before: string, after: string) => Promise<readonly string[]> = diffLines,
): Promise<readonly ShownFile[]> {
  const found = [];
  for (const path of [SKILL_FILE, ...scriptsIn(after)]) {
    const [old = "", now = ""] = [before, after].map((files) => textIn(files.get(path)));
    if (old !== now) found.push(cut(path, await diff(old, now)));
  }
  return found;
}

/** The scripts that would run, as they are. */
export const showScripts = (files: SkillFiles): readonly ShownFile[] =>
  scriptsIn(files)
    .slice(0, MAX_NAMED)
    .map((path) => cut(path, (textIn(files.get(path)) ?? "").replace(/\n$/, "").split("\n")));

export const scriptsIn = (files: SkillFiles): readonly string[] =>
  [...files.keys()].filter((path) => kindOf(path) === "script").sort();

/** The first lines of a file, or of what changed in it. */
export interface ShownFile {
  readonly path: string;
  readonly lines: readonly string[];
  /** How many there are. */
  readonly count: number;
}

const cut = (path: string, lines: readonly string[]): ShownFile => ({
  path,
  lines: lines.slice(0, MAX_DIFF_LINES).map((line) => line.slice(0, MAX_SHOWN_CHARACTERS)),
  count: lines.length,
});

function names(all: readonly string[]): string {
  const shown = all.slice(0, MAX_NAMED).join(", ");
  return all.length > MAX_NAMED ? `${shown} and ${all.length - MAX_NAMED} more` : shown;
}
