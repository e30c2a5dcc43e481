/** `postern man`: the manual, made from the same commands, options and words as `--help`. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { sayPainted } from "../../terminal/output.ts";
import type { OperatorContext } from "./context.ts";

export function register(command: Command, { programFor, version }: OperatorContext): void {
  command
    .addHelpText("after", "\nExamples:\n  $ postern man\n  $ postern man > postern.1")
    .action(async () => showManual(await programFor(["help"]), version));
}

/** On a terminal in the reader that the system has for manuals; otherwise as a text to keep. */
function showManual(program: Command, version: string): void {
  const page = manualOf(program, version);
  if (!process.stdout.isTTY || !openManual(page)) sayPainted(page);
}

function openManual(page: string): boolean {
  const folder = mkdtempSync(join(tmpdir(), "postern-man-"));
  try {
    const file = join(folder, "postern.1");
    writeFileSync(file, page);
    return spawnSync("man", ["-l", file], { stdio: "inherit" }).status === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes the manual in the man macros of troff. */
function manualOf(program: Command, version: string): string {
  const help = program.createHelp();
  const groups = help.visibleCommands(program).filter((command) => command.name() !== "help");
  return [
    // Without a date: whoever builds this version later makes the same page.
    `.TH POSTERN 1 "" "Postern ${troff(version)}" "Postern Manual"`,
    ".SH NAME",
    `postern \\- ${troff(lowered(program.description()))}`,
    ".SH SYNOPSIS",
    ".B postern",
    "[options] [command]",
    ".SH DESCRIPTION",
    ...prose(
      "Without a command it starts every channel, with the terminal UI in front. Each command prints its own help with --help.",
    ),
    ".SH OPTIONS",
    ...optionsOf(program),
    ".SH COMMANDS",
    ...groups.flatMap((command) => describe(command, `postern ${command.name()}`)),
    ".SH ENVIRONMENT",
    "Settings come from the environment, else from .env in the service home.",
    ".B postern config",
    "lists all of them with what they mean.",
    ".SH FILES",
    ".TP",
    ".I ~/.postern",
    ...prose(
      "The service home: tokens, store, secrets, tools, skills and logs. POSTERN_HOME or --home names another.",
    ),
    ".SH EXIT STATUS",
    "0 done, 1 failed, 2 wrong usage, 78 bad configuration.",
    ".SH EXAMPLES",
    ...verbatim(examplesOf(program).replace(/^Examples:\n/, "")).slice(1),
    "",
  ].join("\n");
}

function describe(command: Command, path: string): readonly string[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command).filter((sub) => sub.name() !== "help");
  const usage = subcommands.length > 0 ? "" : ` ${command.usage().replace("[options] ", "")}`;
  const own = [
    `.SS "${troff(`${path}${usage}`.replace(" [options]", "").trimEnd())}"`,
    ...prose(command.description()),
    ...optionsOf(command),
    ...verbatim(examplesOf(command)),
  ];
  return [...own, ...subcommands.flatMap((sub) => describe(sub, `${path} ${sub.name()}`))];
}

function optionsOf(command: Command): readonly string[] {
  const help = command.createHelp();
  return help
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help")
    .flatMap((option) => [".TP", `.B ${troff(option.flags)}`, ...prose(help.optionDescription(option))]);
}

/** Returns the examples that `--help` prints below the options. */
function examplesOf(command: Command): string {
  let text = "";
  command.configureOutput({
    writeOut(part) {
      text += part;
    },
  });
  command.outputHelp();
  return text.slice(command.helpInformation().length).trim();
}

function verbatim(text: string): readonly string[] {
  if (text === "") return [];
  return [".PP", ".nf", ...text.split("\n").map(troff), ".fi"];
}

/** Signs that troff would act on, and a first character that would make a line a request. */
function troff(text: string): string {
  const plain = text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replaceAll("…", "...")
    .replaceAll("'", "\\(aq");
  return plain.startsWith(".") ? `\\&${plain}` : plain;
}

const WIDEST = 76;

/** A sentence in lines that are not too long for tools that read them. */
function prose(text: string): readonly string[] {
  const lines: string[] = [];
  for (const word of sentence(text).split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= WIDEST) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.map(troff);
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.)]$/.test(capital) ? capital : `${capital}.`;
}

function lowered(text: string): string {
  return (text.charAt(0).toLowerCase() + text.slice(1)).replace(/\.$/, "");
}
