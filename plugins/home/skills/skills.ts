/** Skills: those that the operator wrote, folders with a SKILL.md, and those from elsewhere. One that cannot be read is reported and left out. */
import { reason } from "../../../kernel/plugin.ts";
import type { OperatorFiles } from "../files.ts";
import type { Skill, SkillProblem, Skills } from "../services.ts";
import type { AddedRows } from "./added.ts";
import { kindOf, SKILL_FILE, textIn } from "./bundle.ts";
import { readDefinition, type SkillDefinition } from "./definition.ts";

const MAX_SKILLS = 1000;
const LOOK_MS = 500;

interface Found extends Skill {
  readonly definition: SkillDefinition;
  sizes(): Promise<readonly { readonly path: string; readonly bytes: number }[]>;
  file(path: string): Promise<Uint8Array | undefined>;
}

interface Known {
  readonly skills: ReadonlyMap<string, Found>;
  readonly list: readonly Skill[];
  readonly problems: readonly SkillProblem[];
}

interface KnownSkills extends Skills {
  /** The next one who asks gets what is there by then. */
  forget(): void;
}

type OwnFiles = Pick<OperatorFiles, "skills" | "skillFiles" | "skillFile">;

/** `added`: absent where only the operator's own count. */
export function createSkills(files: OwnFiles, added?: Omit<AddedRows, "put" | "remove">): KnownSkills {
  let known: { readonly at: number; readonly found: Promise<Known> } | undefined;
  // The prompt names them every turn: only what changed is parsed again.
  const own = new Map<string, { readonly text: string; readonly found: Found }>();
  const agreed = new Map<string, { readonly digest: string; readonly found: Found }>();

  function readOwn(folder: string, text: string): Found {
    const known = own.get(folder);
    if (known?.text === text) return known.found;
    const definition = readDefinition(text, folder);
    const found: Found = {
      name: definition.name,
      description: definition.description,
      definition,
      sizes: () => files.skillFiles(folder),
      file: (path) => files.skillFile(folder, path),
    };
    own.set(folder, { text, found });
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

  async function look(): Promise<Known> {
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
      await add(file.folder, () => {
        if ("why" in file) throw new Error(file.why);
        return readOwn(file.folder, file.text);
      });
    if (added)
      for (const { name, digest } of await added.known())
        await add(name, () => readAdded(added, name, digest));
    const list = [...skills.values()].map(({ name, description, origin }) => ({ name, description, origin }));
    return { skills, list, problems };
  }

  /** Every turn asks, and two hundred files take longer to look at than the rest of a turn. */
  function find(): Promise<Known> {
    const now = performance.now();
    if (known === undefined || now - known.at > LOOK_MS) {
      const mine = { at: now, found: look() };
      mine.found.catch(() => {
        if (known === mine) known = undefined;
      });
      known = mine;
    }
    return known.found;
  }

  const get = async (name: string) => (await find()).skills.get(name.trim().toLowerCase());

  return {
    list: async () => (await find()).list,
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
    forget() {
      known = undefined;
    },
  };
}
