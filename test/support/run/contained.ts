/** Says at the end of a run how many attacks on the service were tried, and how many of them were contained. */
import type { Reporter, TestModule } from "vitest/node";
import type {} from "../attacks.ts";

interface Count {
  tried: number;
  contained: number;
}

export default class Contained implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = new Map<string, Count>();
    const escaped: string[] = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (test.meta().attack === undefined || (state !== "passed" && state !== "failed")) continue;
        const count = files.get(module.relativeModuleId) ?? { tried: 0, contained: 0 };
        files.set(module.relativeModuleId, count);
        count.tried++;
        if (state === "passed") count.contained++;
        else escaped.push(`${module.relativeModuleId} > ${test.fullName}`);
      }
    }
    if (files.size === 0) return;
    const lines = [...files].toSorted().map(([file, count]) => `  ${file}: ${words(count)}\n`);
    const all: Count = { tried: 0, contained: 0 };
    for (const { tried, contained } of files.values()) {
      all.tried += tried;
      all.contained += contained;
    }
    const left = escaped.length === 0 ? "" : `Not contained:\n  ${escaped.join("\n  ")}\n`;
    process.stdout.write(`Attacks: ${words(all)}\n${lines.join("")}${left}\n`);
  }
}

function words({ tried, contained }: Count): string {
  return `${tried} tried, ${contained} contained`;
}
