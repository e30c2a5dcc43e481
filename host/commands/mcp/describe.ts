/** Describes servers and their tools on a terminal. A server's own text is made visible, so that nothing in it can act. */
import { table } from "../../../kernel/kit/terminal.ts";
import { visible, visibleLine } from "../../../kernel/kit/text.ts";
import type { McpServerInfo, McpTool } from "../../wire.ts";
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

export function describeTools(
  tools: readonly McpTool[],
  { states = true, verbose = false }: { readonly states?: boolean; readonly verbose?: boolean } = {},
): string {
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
    table(heads, rows, { cut: verbose ? [] : ["WHAT IT DOES"] }),
    ...(warnings.length === 0 ? [] : [`Read like orders to the model:\n${bullets(warnings)}\n`]),
  ].join("\n");
}

function oneLine(description: string): string {
  const lines = description.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(": ");
}

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
  const counts = Object.entries(words).flatMap(([state, word]) => {
    const count = tools.filter((tool) => tool.state === state).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return counts.join(", ") || "no tools";
}
