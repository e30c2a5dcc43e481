/** Servers and their tools in words, for a terminal. What a server wrote is shown as its words, and nothing in it can act. */
import { table, visible, visibleLine } from "../../../kernel/kit.ts";
import type { McpServerInfo, McpTool } from "../../../kernel/plugin.ts";
import { bullets } from "../terminal/terminal.ts";

const STATES: Record<McpTool["state"], string> = {
  runs: "runs without asking",
  asks: "asks first",
  off: "off, by its file",
  held: "held back",
};

export function describeTarget({ kind, address }: Pick<McpServerInfo, "kind" | "address">): string {
  return kind === "http"
    ? `${visibleLine(address)}, a server that others run`
    : `the command "${visibleLine(address)}", which runs on this machine with your rights, outside of the sandbox`;
}

/** What each tool does, which are read-only, and what reads like orders. */
export function describeTools(tools: readonly McpTool[], states = true): string {
  if (tools.length === 0) return "It has no tools.\n";
  const rows = tools.map(({ tool, readOnly, state, description }) => [
    tool,
    readOnly ? "read-only" : "may change things",
    ...(states ? [STATES[state]] : []),
    oneLine(description),
  ]);
  const heads = ["TOOL", "THE SERVER SAYS", ...(states ? ["STATE"] : []), "WHAT IT DOES"];
  const warnings = tools.flatMap(({ tool, warnings: given }) =>
    given.map((warning) => `${visibleLine(tool)}: ${visibleLine(warning)}`),
  );
  return [
    table(heads, rows, { cut: ["WHAT IT DOES"] }),
    ...(warnings.length === 0 ? [] : [`Read like orders to the model:\n${bullets(warnings)}\n`]),
  ].join("\n");
}

/** A title and what follows it. */
function oneLine(description: string): string {
  return description
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .join(": ");
}

/** Of tools that are held back: what was agreed to beside what the server says now. */
export function describeChanges(tools: readonly McpTool[]): string {
  return tools
    .filter(({ state, change }) => state === "held" && change !== undefined)
    .map(({ tool, change }) => {
      const what = change?.before === undefined ? "is new" : "changed since you agreed to it";
      const lines = (change?.differences ?? []).map((line) => `    ${visible(line)}`);
      return [`${visibleLine(tool)} ${what}:`, ...lines].join("\n");
    })
    .join("\n");
}

export function countTools(tools: readonly McpTool[]): string {
  const words = { runs: "without asking", asks: "asking first", held: "held back", off: "off" };
  const counts = (["runs", "asks", "held", "off"] as const)
    .map((state) => [tools.filter((tool) => tool.state === state).length, words[state]] as const)
    .filter(([count]) => count > 0);
  return counts.length === 0 ? "no tools" : counts.map(([count, state]) => `${count} ${state}`).join(", ");
}
