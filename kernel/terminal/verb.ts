/** What the commands of plugins have in common: a verb of a group with examples, `--json`, and whole numbers as options. */
import { InvalidArgumentError } from "commander";
import type { CommandBuilder } from "../plugin.ts";
import { say, sayJson } from "./output.ts";

export interface JsonOption {
  readonly json?: boolean;
}

/** Adds a command to a group, with `--json`. Its examples come without the program's name. */
export function verb<Group extends CommandBuilder>(
  group: Group,
  usage: string,
  about: string,
  ...examples: readonly string[]
): Group {
  const lines = examples.map((example) => `  $ postern ${example}`).join("\n");
  const command = group
    .command(usage)
    .description(about)
    .option("--json", "print JSON")
    .addHelpText("after", `\nExample${examples.length === 1 ? "" : "s"}:\n${lines}`);
  // Commander's commands make commands of their own kind.
  return command as Group;
}

export function print({ json = false }: JsonOption, value: unknown, text: string): void {
  if (json) sayJson(value, 2);
  else say(`${text}\n`);
}

export const wholeNumber = (most: number) => (text: string) => {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1 || number > most)
    throw new InvalidArgumentError(`Use a whole number from 1 to ${most}.`);
  return number;
};
