/** The start-up table as the first note: the full-screen UI leaves no room to print it. */
import type { Kernel } from "../../kernel/plugin.ts";

export function welcome(kernel: Kernel): string {
  const rows = kernel
    .plugins()
    .map(({ name, on, detail }) => `| ${name} | ${on ? "on" : "off"} | ${detail} |`);
  const lines = kernel.lines().map((line) => `\n\n${line}`);
  return `# Postern ${kernel.version}\n\n| | | |\n|---|---|---|\n${rows.join("\n")}${lines.join("")}\n\nType a message, or */help*.`;
}
