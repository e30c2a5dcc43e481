/**
 * What is other than in the sources, replaced while they are loaded: the network under callbacks, threads, and old bugs that are put back,
 * each as a text of today and what stood there before its fix.
 */
import { readdirSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { join } from "node:path";

interface Replacement {
  readonly file: string;
  readonly today: string;
  readonly before: string;
}

export interface Planted extends Replacement {
  readonly name: string;
  /** What was wrong, and the commit that fixed it. */
  readonly about: string;
}

const FOLDER = join(import.meta.dirname, "planted");

export const PLANTED: readonly Planted[] = readdirSync(FOLDER)
  .sort()
  .map((file) => ({
    name: file.replace(".json", ""),
    ...(JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as Omit<Planted, "name">),
  }));

const OURS: readonly Replacement[] = [
  // Callbacks go out through the world's network, which their target brings along.
  {
    file: "plugins/webhook/callbacks/callbacks.ts",
    today: "createOutbound({ privateHosts: target.privateHosts })",
    before: "(target as unknown as { outbound: ReturnType<typeof createOutbound> }).outbound",
  },
  // The world's clock does not wait for a thread, so its work is done in this one.
  {
    file: "kernel/text/text-threads.ts",
    today: "import type { TextTask }",
    before: "import work, { type TextTask }",
  },
  { file: "kernel/text/text-threads.ts", today: "(await pool()).run(task)", before: "work(task)" },
];

/** `name`: of an old bug to put back. */
export function replace(name: string | undefined): void {
  const planted = PLANTED.filter((one) => one.name === name);
  if (name !== undefined && planted.length === 0) throw new Error(`There is no planted bug "${name}".`);
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      const all = [...OURS, ...planted].filter(({ file }) => url.endsWith(`/${file}`));
      if (all.length === 0) return loaded;
      return { ...loaded, source: all.reduce(replaceOnce, String(loaded.source)) };
    },
  });
}

function replaceOnce(source: string, { file, today, before }: Replacement): string {
  const [first, rest, ...more] = source.split(today);
  if (rest === undefined || more.length > 0)
    throw new Error(`${file} does not have this text once: ${today}`);
  return `${first}${before}${rest}`;
}
