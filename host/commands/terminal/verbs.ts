/** The verbs of a command: each has `--json`, and examples in its help. */
import type { Command } from "commander";

type AddVerb = (usage: string, about: string, ...examples: readonly string[]) => Command;

export function verbsOf(group: Command): AddVerb {
  return (usage, about, ...examples) => {
    const typed = examples.map((example) => `  $ postern ${group.name()} ${example}`);
    return group
      .command(usage)
      .description(about)
      .option("--json", "print JSON")
      .addHelpText("after", `\nExamples:\n${typed.join("\n")}`);
  };
}
