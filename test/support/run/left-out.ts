/** Says at the end of a run which tests were left out, and what they need. */
import type { Reporter, TestModule } from "vitest/node";
import type {} from "./needs.ts";

export default class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const titles = new Map<string, string[]>();
    for (const module of modules) {
      for (const test of module.children.allTests("skipped")) {
        const { needs } = test.meta();
        if (needs === undefined) continue;
        titles.set(needs, [...(titles.get(needs) ?? []), `${module.relativeModuleId} > ${test.fullName}`]);
      }
    }
    for (const [needs, left] of titles)
      process.stdout.write(
        `${left.length} tests were left out. They need ${needs}:\n  ${left.join("\n  ")}\n\n`,
      );
  }
}
