/** Says at the end of a run which tests passed only when they were tried again, so that nobody takes them for sound. */
import type { Reporter, TestModule } from "vitest/node";

export default class SecondTry implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const unsound = modules.flatMap((module) =>
      [...module.children.allTests("passed")]
        .filter((test) => test.diagnostic()?.flaky === true)
        .map((test) => `  ${module.relativeModuleId} > ${test.fullName}\n`),
    );
    if (unsound.length > 0)
      process.stdout.write(
        `${unsound.length} tests passed only at the second try, each of them a fault:\n${unsound.join("")}\n`,
      );
  }
}
