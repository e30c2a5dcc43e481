/** Where other agents keep what a person may want to bring along. It is only read; links are not followed. */
import { constants, type Dirent } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, tryJson } from "../../../kernel/kit.ts";
import { IDENTITY_FILES } from "../files.ts";

export type Program = "openclaw" | "hermes";

export interface Foreign {
  /** Texts by the name of the identity file here. */
  readonly identity: ReadonlyMap<string, string>;
  /** Texts by the path of the document. */
  readonly memory: ReadonlyMap<string, string>;
  /** Folders with a SKILL.md. */
  readonly skills: readonly string[];
  readonly schedules: readonly ForeignSchedule[];
  /** Sentences about what is there and cannot be taken. */
  readonly refused: readonly string[];
}

export interface ForeignSchedule {
  readonly schedule: string;
  readonly tz?: string;
  readonly text: string;
}

/** So much of an identity file is read in a turn. */
const MAX_IDENTITY_BYTES = 60_000;
const MAX_DOCUMENT_BYTES = 256 * 1024;
const MAX_JOBS_BYTES = 4 * 1024 * 1024;
const MAX_DOCUMENTS = 1000;
const MAX_SKILLS = 500;
const MAX_SCHEDULES = 200;

const PLACES = {
  openclaw: {
    workspace: "workspace",
    identity: IDENTITY_FILES.map(({ name }) => [name, name] as const),
    documents: ["MEMORY.md", "TOOLS.md"],
    documentFolder: "memory",
  },
  hermes: {
    workspace: "",
    identity: [
      ["AGENTS.md", "AGENTS.md"],
      ["SOUL.md", "SOUL.md"],
      ["USER.md", "memories/USER.md"],
    ] as const,
    documents: ["memories/MEMORY.md"],
    documentFolder: undefined,
  },
};

export async function readForeign(program: Program, folder: string): Promise<Foreign> {
  const { workspace: named, identity, documents, documentFolder } = PLACES[program];
  const refused: string[] = [];
  const below = join(folder, named);
  // Who names the workspace itself means that.
  const workspace = (await foldersIn(folder)).includes(named) ? below : folder;
  const text = async (path: string, most: number) => {
    const found = await readText(join(workspace, path), most);
    if (found !== undefined && "why" in found) refused.push(`${path}: ${found.why}`);
    return found !== undefined && "text" in found ? found.text : undefined;
  };
  const texts = async (paths: readonly (readonly [string, string])[], most: number) => {
    const found = new Map<string, string>();
    for (const [name, path] of paths) {
      const one = await text(path, most);
      if (one !== undefined && one.trim() !== "") found.set(name, one);
    }
    return found;
  };
  const daily = documentFolder === undefined ? [] : await filesIn(join(workspace, documentFolder));
  const paths = [...documents, ...daily.map((name) => `${documentFolder}/${name}`)];
  if (paths.length > MAX_DOCUMENTS)
    refused.push(`only the first ${MAX_DOCUMENTS} memory documents are taken`);
  const skills = [
    ...(await skillFolders(join(workspace, "skills"))),
    ...(workspace === folder ? [] : await skillFolders(join(folder, "skills"))),
  ];
  if (skills.length > MAX_SKILLS) refused.push(`only the first ${MAX_SKILLS} skills are taken`);
  return {
    identity: await texts(identity, MAX_IDENTITY_BYTES),
    memory: await texts(
      paths.slice(0, MAX_DOCUMENTS).map((path) => [`imported/${program}/${path}`, path]),
      MAX_DOCUMENT_BYTES,
    ),
    skills: skills.slice(0, MAX_SKILLS),
    schedules: await readSchedules(join(folder, "cron", "jobs.json"), refused),
    refused,
  };
}

async function readText(
  file: string,
  most: number,
): Promise<{ readonly text: string } | { readonly why: string } | undefined> {
  const stat = await lstat(file).catch(() => undefined);
  if (stat === undefined) return undefined;
  if (!stat.isFile()) return { why: "it is a link or a folder" };
  if (stat.size > most) return { why: `it has more than ${Math.floor(most / 1000)} kB` };
  const data = await readFile(file, { flag: constants.O_RDONLY | constants.O_NOFOLLOW });
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(data) };
  } catch {
    return { why: "it is not UTF-8 text" };
  }
}

const entriesIn = async (folder: string): Promise<readonly Dirent[]> =>
  (await readdir(folder, { withFileTypes: true }).catch(() => []))
    .filter(({ name }) => !name.startsWith("."))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));

const foldersIn = async (folder: string): Promise<readonly string[]> =>
  (await entriesIn(folder)).filter((entry) => entry.isDirectory()).map(({ name }) => name);

const filesIn = async (folder: string): Promise<readonly string[]> =>
  (await entriesIn(folder))
    .filter((entry) => entry.isFile() && entry.name.endsWith(".md"))
    .map(({ name }) => name);

/** Some sort them into folders by kind. */
async function skillFolders(folder: string, depth = 2): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of await foldersIn(folder)) {
    const inside = join(folder, name);
    if ((await filesIn(inside)).includes("SKILL.md")) found.push(inside);
    else if (depth > 1) found.push(...(await skillFolders(inside, depth - 1)));
  }
  return found;
}

async function readSchedules(file: string, refused: string[]): Promise<readonly ForeignSchedule[]> {
  const found = await readText(file, MAX_JOBS_BYTES);
  if (found === undefined) return [];
  const parsed = "text" in found ? tryJson(found.text) : undefined;
  const jobs = isRecord(parsed) ? parsed["jobs"] : parsed;
  if (!Array.isArray(jobs)) {
    refused.push(`cron/jobs.json: ${"why" in found ? found.why : "it is not a list of jobs"}`);
    return [];
  }
  return jobs.slice(0, MAX_SCHEDULES).flatMap((job: unknown) => {
    if (!isRecord(job)) return [];
    const read = readJob(job);
    if (typeof read !== "string") return [read];
    refused.push(
      `the schedule ${JSON.stringify(String(job["name"] ?? job["id"] ?? "").slice(0, 60))}: ${read}`,
    );
    return [];
  });
}

/** A job of either program; a sentence where it is none of ours. */
function readJob(job: Readonly<Record<string, unknown>>): ForeignSchedule | string {
  const payload = isRecord(job["payload"]) ? job["payload"] : job;
  const text = [payload["message"], payload["text"], payload["prompt"]].find(
    (one) => typeof one === "string",
  );
  if (payload["kind"] === "command" || job["no_agent"] === true)
    return "it runs a command, which is never done here";
  if (text === undefined || text === "") return "it has no message for the agent";
  const when = isRecord(job["schedule"]) ? job["schedule"] : {};
  const schedule = wordsOf(when);
  if (schedule === undefined) return "its time cannot be read";
  const zone = isOnce(when) ? "UTC" : when["tz"];
  return { schedule, text: String(text), ...(typeof zone === "string" && { tz: zone }) };
}

const isOnce = ({ kind }: Readonly<Record<string, unknown>>): boolean => kind === "at" || kind === "once";

function wordsOf(when: Readonly<Record<string, unknown>>): string | undefined {
  const { kind, expr, everyMs, minutes, at, atMs, run_at: runAt } = when;
  if (kind === "cron") return typeof expr === "string" ? expr : undefined;
  if (kind === "every" || kind === "interval") {
    const every = Math.round(kind === "every" ? Number(everyMs) / 60_000 : Number(minutes));
    return Number.isSafeInteger(every) && every > 0 ? `every ${every} minutes` : undefined;
  }
  if (!isOnce(when)) return undefined;
  const time = new Date((at ?? atMs ?? runAt) as string | number);
  if (Number.isNaN(time.getTime())) return undefined;
  const [day, clock = ""] = time.toISOString().split("T");
  return `${day} at ${clock.slice(0, 5)}`;
}
