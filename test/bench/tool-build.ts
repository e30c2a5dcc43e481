/** What an author waits for: `postern tool build` of the template again after a change of one line, with either engine. */
import { execFile } from "node:child_process";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Bench, compare, interleave, within } from "./support/bench.ts";
import { BIN, inFolder } from "./support/programs.ts";

const ROUNDS = 3;

export const bench: Bench = {
  name: "tool-build",
  about: "`postern tool build` of the template, again after a change of one line: the whole command",
  run: (progress) =>
    inFolder(async (folder) => {
      const env = { ...process.env, POSTERN_HOME: join(folder, "home"), TOOLS_SHIPPED: "false" };
      const run = async (...args: readonly string[]) => {
        const began = performance.now();
        await promisify(execFile)(process.execPath, [BIN, ...args], { cwd: folder, env });
        return performance.now() - began;
      };
      for (const engine of ["spidermonkey", "quickjs"]) await run("tool", "new", engine);
      const build = (engine: string) => () => {
        appendFileSync(join(folder, engine, "tool.ts"), "\n// one more line\n");
        return run("tool", "build", engine, "--engine", engine);
      };
      const [spidermonkey, quickjs] = [build("spidermonkey"), build("quickjs")];
      progress("the first build of each");
      await spidermonkey();
      await quickjs();
      const samples = await interleave(
        { "postern --help": () => run("--help"), spidermonkey, quickjs },
        ROUNDS,
        progress,
      );
      const goals = { spidermonkey: within(6000, "ms"), quickjs: within(2000, "ms") };
      return compare(samples, { unit: "ms", goals });
    }),
};
