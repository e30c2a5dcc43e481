/** A skill as its files: where it begins in what was fetched, its limits and its digest. */
import { hash } from "node:crypto";
import { tryUtf8 } from "../../../kernel/kit/text.ts";
import { MAX_SKILL_LENGTH } from "../files.ts";
import type { SkillFileKind } from "../services.ts";

/** By their path in the skill's folder. */
export type SkillFiles = ReadonlyMap<string, Uint8Array>;

export const SKILL_FILE = "SKILL.md";
export const BUNDLE_BOUNDS = { maxFiles: 500, maxBytes: 16 * 1024 * 1024 };

const RUNNABLE = /^scripts\/(?:[^/]+\/)*[^/]+\.(?:js|ts)$/;
const SCRIPT = /^scripts\//;

/** Scripts in other languages are listed, and never run. */
export function kindOf(path: string): SkillFileKind {
  if (RUNNABLE.test(path)) return "script";
  if (SCRIPT.test(path)) return "not runnable here";
  if (path.startsWith("references/")) return "reference";
  return path.startsWith("assets/") ? "asset" : "other";
}

/** The one skill in a folder or archive: what lies beside the SKILL.md nearest to its top. `folder`: what its folder is called. */
export function findBundle(
  files: SkillFiles,
  name: string | undefined,
): { readonly files: SkillFiles; readonly folder: string | undefined } {
  const found = [...files.keys()].filter((path) => /(?:^|\/)(?:SKILL|skill)\.md$/.test(path));
  const depth = (path: string) => path.split("/").length;
  const least = Math.min(...found.map(depth));
  const [only, ...others] = found.filter((path) => depth(path) === least).sort();
  if (only === undefined) throw new Error("there is no SKILL.md in it");
  const root = only.slice(0, only.lastIndexOf("/") + 1);
  const foreign = others.find((path) => !path.startsWith(root) || path.slice(root.length).includes("/"));
  if (foreign !== undefined)
    throw new Error(
      `it has ${others.length + 1} skills (${[only, ...others].slice(0, 3).join(", ")}…): unpack it and add the folder of one`,
    );
  if (others.length > 0)
    throw new Error(`it has both ${others[0]?.slice(root.length)} and ${only.slice(root.length)}: keep one`);
  const own = [...files].filter(([path]) => path.startsWith(root));
  const inside = new Map(own.map(([path, data]) => [normal(path.slice(root.length)), data]));
  const size = inside.get(SKILL_FILE)?.byteLength ?? 0;
  if (size > MAX_SKILL_LENGTH)
    throw new Error(
      `its SKILL.md has more than ${MAX_SKILL_LENGTH / 1024} KiB: move parts of it to references/`,
    );
  return { files: inside, folder: root === "" ? name : root.split("/").at(-2) };
}

/** Some call it in lower case. */
const normal = (path: string) => (path === "skill.md" ? SKILL_FILE : path);

/** The same for the same files, in whatever order and archive they came. */
export function digestOf(files: SkillFiles): string {
  const listed = [...files].map(([path, data]) => [path, hash("sha256", data)]);
  return `sha256:${hash("sha256", JSON.stringify(listed.sort(([one = ""], [other = ""]) => (one < other ? -1 : 1))))}`;
}

export const textIn = (data: Uint8Array | undefined): string | undefined => data && tryUtf8(data);
