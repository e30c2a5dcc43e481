/** Starts the files that take minutes first: one that starts last runs alone while the other workers have nothing to do. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ROOT } from "../clone.ts";

/** Vitest goes by how long files took the last time, but in a fresh clone by their size. */
const LONGEST = [
  "test/simulation/simulation.extended.test.ts",
  "test/host/author/packed.extended.test.ts",
  "test/wit/rust.extended.test.ts",
  "test/host/proposals/propose.extended.test.ts",
  "test/plugins/third-party.extended.test.ts",
  "test/plugins/agent/turn/prefix.extended.test.ts",
].map(pathOf);

function pathOf(file: string): string {
  const path = join(ROOT, file);
  if (!existsSync(path)) throw new Error(`${file} was moved or removed: change the list in longest-first.ts`);
  return path;
}

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const places = new Map(LONGEST.map((path, place) => [path, place]));
    const placeOf = ({ moduleId }: TestSpecification) => places.get(moduleId) ?? places.size;
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    return sorted.toSorted((one, other) => groupOf(one) - groupOf(other) || placeOf(one) - placeOf(other));
  }
}
