/** Benches on another commit and on this one in turn, so that a regression is a number and not a memory. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../../kernel/package.ts";
import { type Figure, median, spread } from "./bench.ts";
import { noise, number } from "./page.ts";

export interface Sides<Side> {
  readonly before: Side;
  readonly after: Side;
}

export const ROUNDS = 3;

const git = (...words: readonly string[]): string =>
  execFileSync("git", words, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();

/** The commit's number; undefined if there is none of that name. */
export function findCommit(name: string): string | undefined {
  try {
    return git("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
  } catch {
    return undefined;
  }
}

/** Does work in a folder with the files and packages of a commit, which is removed afterwards. */
export async function inCommit<Result>(
  commit: string,
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const parent = mkdtempSync(join(tmpdir(), "postern-bench-"));
  const folder = join(parent, "then");
  try {
    git("worktree", "add", "--quiet", "--detach", folder, commit);
    if (git("diff", "--name-only", commit, "--", "package.json", "package-lock.json") === "")
      symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    else
      execFileSync("npm", ["install", "--no-audit", "--no-fund"], {
        cwd: folder,
        stdio: ["ignore", "ignore", "inherit"],
      });
    return await work(folder);
  } finally {
    rmSync(parent, { recursive: true, force: true });
    git("worktree", "prune");
  }
}

/** The figures of a bench on both sides, each round beginning with the other side. Undefined if it is new. */
export async function measureBoth(
  files: Sides<string>,
  measure: (file: string) => Promise<readonly Figure[]>,
): Promise<Sides<readonly Figure[][]> | undefined> {
  if (!existsSync(files.before)) return undefined;
  const figures = { before: [] as Figure[][], after: [] as Figure[][] };
  for (let round = 0; round < ROUNDS; round++)
    for (const side of round % 2 === 0 ? (["before", "after"] as const) : (["after", "before"] as const))
      figures[side].push([...(await measure(files[side]))]);
  return figures;
}

/** What both sides measured: the middle of their rounds, and this commit's as a share of the other's. */
export function toSides({ before, after }: Sides<readonly Figure[][]>): string[][] {
  const keyOf = ({ name, column = "", unit }: Figure) => [name, column, unit].join("\n");
  const known = Map.groupBy(before.flat(), keyOf);
  const rows = [...Map.groupBy(after.flat(), keyOf)].flatMap(([key, after]) => {
    const [name = "", column = "", unit = ""] = key.split("\n");
    const old = known.get(key)?.map((figure) => figure.median);
    if (old === undefined) return [];
    const own = after.map((figure) => figure.median);
    const label = column === "" ? name : `${name}, ${column}`;
    const [was, is] = [median(old), median(own)];
    return [
      [
        label,
        `${number(was)} ${unit}`,
        `${number(is)} ${unit}`,
        `${number(is / was)}×`,
        noise(Math.max(spread(old), spread(own))),
      ],
    ];
  });
  return [["", "then", "now", "now beside then", "noise"], ...rows];
}
