/** Skills: those that the operator wrote, folders with a SKILL.md, and those from elsewhere. One that cannot be read is reported and left out. */
import { reason } from "../../../kernel/plugin.ts";
import { type OperatorFiles, skillPath } from "../files.ts";
import { createImports } from "../imports.ts";
import type { Skill, SkillProblem, Skills } from "../services.ts";
import type { AddedRows } from "./added.ts";
import { kindOf, SKILL_FILE, textIn } from "./bundle.ts";
import { readDefinition, type SkillDefinition } from "./definition.ts";

const MAX_SKILLS = 1000;

interface Found extends Skill {
  readonly definition: SkillDefinition;
  sizes(): Promise<readonly { readonly path: string; readonly bytes: number }[]>;
  file(path: string): Promise<Uint8Array | undefined>;
}

type OwnFiles = Pick<OperatorFiles, "skills" | "skillFiles" | "skillFile" | "read">;

/** `added`: absent where only the operator's own count. */
export function createSkills(files: OwnFiles, added?: Omit<AddedRows, "put" | "remove">): Skills {
  // The prompt names them every turn: only what changed is parsed again.
  const own = new Map<
    string,
    { readonly text: string; readonly isImported: boolean; readonly found: Found }
  >();
  const imports = createImports(files);
  const agreed = new Map<string, { readonly digest: string; readonly found: Found }>();

  function readOwn(folder: string, text: string, isImported: boolean): Found {
    const known = own.get(folder);
    if (known?.text === text && known.isImported === isImported) return known.found;
    const definition = readDefinition(text, folder);
    const found: Found = {
      name: definition.name,
      description: definition.description,
      origin: isImported ? { kind: "skill", name: definition.name } : undefined,
      definition,
      sizes: () => files.skillFiles(folder),
      file: (path) => files.skillFile(folder, path),
    };
    own.set(folder, { text, isImported, found });
    return found;
  }

  async function readAdded(rows: NonNullable<typeof added>, name: string, digest: string): Promise<Found> {
    const known = agreed.get(name);
    if (known?.digest === digest) return known.found;
    const definition = readDefinition(textIn(await rows.file(name, SKILL_FILE)) ?? "", name);
    const found: Found = {
      name,
      description: definition.description,
      origin: { kind: "skill", name },
      definition,
      sizes: () => rows.sizes(name),
      file: (path) => rows.file(name, path),
    };
    agreed.set(name, { digest, found });
    return found;
  }

  async function find(): Promise<{ skills: ReadonlyMap<string, Found>; problems: readonly SkillProblem[] }> {
    const skills = new Map<string, Found>();
    const problems: SkillProblem[] = [];
    const add = async (folder: string, read: () => Found | Promise<Found>) => {
      try {
        const found = await read();
        const key = found.name.toLowerCase();
        if (skills.has(key)) throw new Error(`another folder has a skill named ${found.name}`);
        if (skills.size >= MAX_SKILLS) throw new Error(`only the first ${MAX_SKILLS} are read`);
        skills.set(key, found);
      } catch (error) {
        problems.push({ folder, why: reason(error) });
      }
    };
    // The operator's own first: nobody's name takes the place of theirs.
    for (const file of await files.skills())
      await add(file.folder, async () => {
        if ("why" in file) throw new Error(file.why);
        return readOwn(file.folder, file.text, await imports.isImported(skillPath(file.folder), file.text));
      });
    if (added)
      for (const { name, digest } of await added.known())
        await add(name, () => readAdded(added, name, digest));
    return { skills, problems };
  }

  const get = async (name: string) => (await find()).skills.get(name.trim().toLowerCase());

  return {
    async list() {
      const { skills } = await find();
      return [...skills.values()].map(({ name, description, origin }) => ({ name, description, origin }));
    },
    async read(name) {
      const found = await get(name);
      if (found === undefined) return undefined;
      const { description, origin, definition, sizes } = found;
      const beside = (await sizes()).filter(({ path }) => path !== SKILL_FILE);
      return {
        ...{ name: found.name, description, origin, text: definition.text },
        requiredTools: definition.requiredTools,
        allowedTools: definition.allowedTools,
        files: beside.map(({ path, bytes }) => ({ path, bytes, kind: kindOf(path) })),
      };
    },
    file: async (name, path) => (await get(name))?.file(path),
    problems: async () => (await find()).problems,
  };
}
