/** The start-up table as the first notes: the full-screen UI leaves no room to print it. */
import type { Kernel } from "../../kernel/plugin.ts";
import type { Conversation } from "./conversation.ts";

/**
 * Returns what brings it up to date: channels that start after this one get their addresses later. Below a thread that is
 * opened at once there is only the link.
 */
export function greet(
  conversation: Pick<Conversation, "note" | "rewrite">,
  kernel: Kernel,
  isBrief: boolean,
): () => void {
  const [table, address] = [isBrief ? undefined : conversation.note(""), conversation.note("")];
  if (!isBrief) conversation.note("Type a message, or */help*.");
  const update = () => {
    const lines = kernel.lines().map((line) => LINK.exec(line)?.groups ?? { words: line });
    const link = lines.find(({ url }) => url !== undefined);
    const others = lines.filter((line) => line !== link).map(({ words }) => words ?? "");
    if (table !== undefined) conversation.rewrite(table, tableOf(kernel, others));
    conversation.rewrite(address, link?.["words"] ?? "", link?.["url"]);
  };
  update();
  return update;
}

const LINK = /^(?<words>[^:]*) (?<url>https?:\/\/[!-~]+)$/;

function tableOf(kernel: Kernel, lines: readonly string[]): string {
  const rows = kernel
    .plugins()
    .map(({ name, on, detail }) => `| ${name} | ${on ? "on" : "off"} | ${detail} |`);
  return `# Postern ${kernel.version}\n\n| | | |\n|---|---|---|\n${rows.join("\n")}${lines.map((line) => `\n\n${line}`).join("")}`;
}
