/** What it costs to install a 12 MB tool from a registry instead of from its file. Compiling it costs both the same, and is done once. */
import { join } from "node:path";
import { readComponentFile } from "../../host/compile/component-file.ts";
import { publish } from "../../host/sources/oci/publish.ts";
import { parseReference, type Reference } from "../../host/sources/reference.ts";
import { ROOT } from "../support/clone.ts";
import { startDockerRegistry } from "../support/processes/docker-registry.ts";
import { type Bench, compare, type Goal, interleave, median, single, within } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";
import { openHost } from "./support/tool-host.ts";

const ROUNDS = 5;
const COMPONENT = join(ROOT, "components", "weather", "dist", "weather.wasm");
const CAPABILITIES = JSON.stringify({ version: "1.0.0", wit_version: "0.1.0" });
const MAX_MORE_MS = 3000;
const UNSEEN_ROUNDS = 3;
const UNSEEN = { "from the file, never seen before": within(1500, "ms") };
const SAYS_SOMETHING: Goal = { words: "≥ 1", met: (_ratio, lines) => lines >= 1 };

/** The same tool to whoever runs it, and another file: a custom section is added. */
function withSection(component: Uint8Array, text: string): Uint8Array {
  const content = Buffer.from(`\u0005bench${text}`);
  return Buffer.concat([component, Buffer.from([0, content.length]), content]);
}

export const bench: Bench = {
  name: "install-sources",
  about:
    "installing a 12 MB tool from a registry on loopback, and from its file: at most 3 s more; and one that was never seen, which is made ready first",
  run: (progress) =>
    inFolder(async (folder) => {
      const undos: (() => unknown)[] = [];
      try {
        const registry = await startDockerRegistry((undo) => void undos.push(undo), { open: true });
        const host = await openHost(join(folder, "home"), [registry.plain]);
        undos.push(host.close);
        const options = { progress: () => {}, capabilitiesText: CAPABILITIES };
        const install = async (reference: Reference) => {
          const began = performance.now();
          const { component, capabilitiesText, origin, evidence } = await host.sources.fetch(
            reference,
            options,
          );
          await host.judgeSignature(origin, evidence);
          const candidate = await host.examine(component, capabilitiesText);
          await host.place("measured", { ...candidate, origin }, true);
          return performance.now() - began;
        };
        const file: Reference = { kind: "file", path: COMPONENT };
        const reference = parseReference(`oci://${registry.plain}/bench/weather`);
        if (reference.kind !== "oci") throw new Error("not a registry's reference");
        progress("compiling the tool and publishing it");
        await install(file);
        await publish({
          registry: host.openRegistry(reference, "pull,push"),
          reference,
          version: "1.0.0",
          tool: await host.sources.fetch(file, options),
          progress,
        });
        const samples = await interleave(
          { "from the file": () => install(file), "from a registry": () => install(reference) },
          ROUNDS,
          progress,
        );
        const unseen: number[] = [];
        let said = 0;
        for (let round = 0; round < UNSEEN_ROUNDS; round++) {
          progress(`round ${round + 1} of ${UNSEEN_ROUNDS}: never seen`);
          const component = withSection(await readComponentFile(COMPONENT), `${round}`);
          const began = performance.now();
          const candidate = await host.examine(component, CAPABILITIES, () => void said++);
          await host.place("measured", candidate, true);
          unseen.push(performance.now() - began);
        }
        const more = median(samples["from a registry"] ?? []) - median(samples["from the file"] ?? []);
        return [
          ...compare(samples, { unit: "ms" }),
          single("what the registry adds", more, "ms", within(MAX_MORE_MS, "ms")),
          ...compare({ "from the file, never seen before": unseen }, { unit: "ms", goals: UNSEEN }),
          single("lines of progress meanwhile", said / UNSEEN_ROUNDS, "lines", SAYS_SOMETHING),
        ];
      } finally {
        for (const undo of undos.reverse()) await undo();
      }
    }),
};
