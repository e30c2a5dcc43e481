/**
 * `postern import openclaw|hermes <folder>`: brings what a person has at another agent. It shows what it would take first; nothing of it is
 * run, nothing of the person's own is replaced, and all of it stays a stranger's until they change it.
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { type JsonOption, OPERATOR, print, verb } from "../../../kernel/kit.ts";
import { type CommandContext, Fault, reason, type Services } from "../../../kernel/plugin.ts";
import { agree, bullets, progress } from "../skills/agreeing.ts";
import { BUNDLE_BOUNDS, SKILL_FILE } from "../skills/bundle.ts";
import { propose } from "../skills/proposal.ts";
import { type Foreign, type ForeignSchedule, type Program, readForeign } from "./layout.ts";

interface Options extends JsonOption {
  readonly user: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

type Use = Pick<Services, "homeFiles" | "skills" | "packages" | "memory" | "routines">;

interface Taken {
  /** Files of the home by their path. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly identity: readonly string[];
  readonly skills: readonly string[];
  readonly memory: ReadonlyMap<string, string>;
  readonly schedules: readonly (ForeignSchedule & { readonly words: string })[];
  readonly refused: readonly string[];
}

export function register(group: Command, context: CommandContext): void {
  group.addHelpText(
    "after",
    "\nNothing of it is run: schedules come paused. What is imported counts as a stranger's words until you change it.",
  );
  for (const program of ["openclaw", "hermes"] as const)
    verb(
      group,
      `${program} <folder>`,
      `bring identity files, memory, skills and schedules from the home of ${program}`,
      `import ${program} ~/.${program} --dry-run`,
      `import ${program} ~/.${program}`,
    )
      .option("--user <user_id>", "whose memory and schedules they become", OPERATOR)
      .option("--dry-run", "only show what would be taken")
      .option("--yes", "agree to it")
      .action((folder: string, options: Options) =>
        context.with(["homeFiles", "skills", "packages", "memory", "routines"], async (use) => {
          const place = resolve(context.folder, folder);
          const taken = await choose(use, program, await readForeign(program, place), options.user);
          const count = taken.files.size + taken.memory.size + taken.schedules.length;
          progress(describe(taken, place));
          const wire = {
            identity: taken.identity,
            memory: [...taken.memory.keys()],
            skills: taken.skills,
            schedules: taken.schedules.map(({ words, text }) => ({ schedule: words, text })),
            refused: taken.refused,
          };
          if (options.dryRun)
            return print(options, { dry_run: true, ...wire }, "Nothing was taken: --dry-run.");
          if (count === 0)
            throw new Fault("invalid", "nothing_to_import", `There is nothing to take in ${place}.`);
          await agree("Take this?", options);
          await take(use, program, taken, options.user);
          print(
            options,
            { dry_run: false, ...wire },
            "Imported. It counts as a stranger's words until you change it.",
          );
        }),
      );
}

/** What of it can be taken: nothing takes the place of what is there. */
async function choose(use: Use, program: Program, foreign: Foreign, user: string): Promise<Taken> {
  const refused = [...foreign.refused];
  const files = new Map<string, Uint8Array>();
  const identity: string[] = [];
  for (const [name, text] of foreign.identity)
    if ((await use.homeFiles.read(name, 1)) !== undefined) refused.push(`${name}: you have one`);
    else {
      files.set(name, Buffer.from(text));
      identity.push(name);
    }
  const names = new Set((await use.skills.list()).map(({ name }) => name.toLowerCase()));
  const skills: string[] = [];
  for (const folder of foreign.skills) {
    try {
      const found = await readSkill(use, folder);
      if (names.has(found.name.toLowerCase())) throw new Error("you have a skill of that name");
      names.add(found.name.toLowerCase());
      skills.push(found.name);
      for (const [path, data] of found.files) files.set(`skills/${found.name}/${path}`, data);
    } catch (error) {
      refused.push(`the skill in ${folder}: ${reason(error)}`);
    }
  }
  const memory = new Map<string, string>();
  for (const [path, text] of foreign.memory)
    if (await use.memory.read(user, path)) refused.push(`${path}: there is one`);
    else memory.set(path, text);
  const schedules: Taken["schedules"][number][] = [];
  for (const schedule of foreign.schedules) {
    try {
      const { words } = await use.routines.preview(schedule.schedule, schedule.tz);
      schedules.push({ ...schedule, words });
    } catch (error) {
      refused.push(`the schedule ${JSON.stringify(schedule.schedule)} of ${program}: ${reason(error)}`);
    }
  }
  return { files, identity, skills, memory, schedules, refused };
}

async function readSkill({ packages }: Use, folder: string) {
  const fetched = await packages.fetch(folder, {
    folder: "/",
    bounds: BUNDLE_BOUNDS,
    progress,
    unsigned: () => true,
  });
  const { definition, files } = propose(fetched);
  if (!files.has(SKILL_FILE)) throw new Error("it has no SKILL.md");
  return { name: definition.name, files };
}

async function take(
  { homeFiles, memory, routines }: Use,
  program: Program,
  taken: Taken,
  user: string,
): Promise<void> {
  if (taken.files.size > 0) await homeFiles.import(taken.files);
  const origins = [{ kind: "outside", name: `import from ${program}` } as const];
  for (const [path, text] of taken.memory) await memory.write(user, path, text, { origins });
  for (const { schedule, tz, text } of taken.schedules)
    await routines.add({ user, schedule, text, importedFrom: program, ...(tz !== undefined && { tz }) });
}

function describe({ identity, skills, memory, schedules, refused }: Taken, place: string): string {
  const part = (name: string, all: readonly string[]) =>
    all.length === 0 ? [] : [`${name} (${all.length}):\n${bullets(all)}`];
  const short = (text: string) => (text.length <= 80 ? text : `${text.slice(0, 79)}…`).replace(/\s+/g, " ");
  return [
    `In ${place} there is this to take:`,
    ...part("Identity files", identity),
    ...part("Memory documents", [...memory.keys()]),
    ...part("Skills", skills),
    ...part(
      "Schedules, which come paused",
      schedules.map(({ words, text }) => `${words}: ${short(text)}`),
    ),
    ...part("Not taken", refused),
  ].join("\n");
}
