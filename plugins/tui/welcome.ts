/** What the start-up table says elsewhere, for a screen that has no room above it. */
import type { Kernel } from "../../kernel/plugin.ts";

export function welcome(kernel: Kernel): string {
  const rows = kernel
    .plugins()
    .map(({ name, on, detail }) => `| ${name} | ${on ? "on" : "off"} | ${detail} |`);
  const told = kernel.lines().map((line) => `\n\n${line}`);
  return `# Postern ${kernel.version}\n\n| | | |\n|---|---|---|\n${rows.join("\n")}${told.join("")}\n\nWrite a message, or */help*.`;
}
