/** A run of code beside a plain call of `convert` with the same engine. */
import { cpSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { buildProject } from "../../host/author/build/build.ts";
import { installedToolchain } from "../../host/author/build/toolchain.ts";
import { openProject } from "../../host/author/project.ts";
import { createWorkspace } from "../../plugins/workspace/workspace.ts";
import { ROOT } from "../support/clone.ts";
import { openHomeStore } from "../support/tools/home-store.ts";
import { builtComponent, capabilitiesOf } from "../support/tools/shipped.ts";
import { install, NOTHING, toolHost } from "../support/tools/tool-host.ts";
import { atMost, type Bench, compare, interleave } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";

const ROUNDS = 60;
const WARM_ROUNDS = 10;

/** The shipped one is built with the smaller engine. */
async function convertWithSpiderMonkey(folder: string): Promise<Uint8Array> {
  for (const file of ["tool.ts", "units.ts"])
    cpSync(join(ROOT, "components", "convert", file), join(folder, file));
  const options = { engine: "spidermonkey", progress: () => {}, always: true } as const;
  const openToolchain = async () => installedToolchain();
  const { file } = await buildProject(openProject(folder), { ...options, openToolchain });
  return readFile(file);
}

export const bench: Bench = {
  name: "run-code",
  about: "a run of code, beside a call of convert with the same engine",
  run: (progress) =>
    inFolder(async (folder) => {
      progress("building convert with SpiderMonkey");
      const convert = await convertWithSpiderMonkey(folder);
      const store = openHomeStore(folder);
      const workspace = await createWorkspace({ store, maxMb: 10, home: folder });
      const closings: (() => unknown)[] = [];
      const later = (close: () => unknown) => void closings.push(close);
      const host = await toolHost({ workspace, later }, folder, store);
      try {
        await install(host, "convert", convert, NOTHING);
        await install(host, "run-code", await builtComponent("run-code"), capabilitiesOf("run-code"));
        const timed = (name: string, params: object) => async () => {
          const began = performance.now();
          const { outcome } = await host.run(
            { id: "call", name, params: JSON.stringify(params) },
            { user: "operator" },
          );
          if (outcome.status !== "ok") throw new Error(JSON.stringify(outcome));
          return performance.now() - began;
        };
        const contestants = {
          "convert, SpiderMonkey": timed("convert", { value: 26.2, from: "miles", to: "km" }),
          "run-code, JavaScript": timed("run-code", { code: "26.2 * 1.609344" }),
          "run-code, TypeScript": timed("run-code", {
            code: "const miles: number = 26.2;\nmiles * 1.609344",
          }),
        };
        for (let round = 0; round < WARM_ROUNDS; round++)
          for (const run of Object.values(contestants)) await run();
        const goals = { "run-code, JavaScript": atMost(2) };
        return compare(await interleave(contestants, ROUNDS, progress), {
          ...{ unit: "ms", what: "a call", baseline: "convert, SpiderMonkey", goals },
        });
      } finally {
        for (const close of closings) await close();
      }
    }),
};
