/** Parsers of option values; anything else is wrong usage. */
import { CommanderError, InvalidArgumentError, type Option } from "commander";
import { LOG_LEVELS, type LogLevel } from "../log/log.ts";

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `30s`, `10m`, `2h`, `3d` ago, or a time. */
export function parseSince(text: string): Date {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const time =
    count === undefined ? Date.parse(text) : Date.now() - Number(count) * UNITS[unit as keyof typeof UNITS];
  const since = new Date(time);
  if (Number.isNaN(since.getTime()))
    throw new InvalidArgumentError("Use 30s, 10m, 2h, 3d or a time such as 2026-11-16T08:00:00Z.");
  return since;
}

export function parseLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text.toLowerCase());
  if (level === undefined || level === "silent")
    throw new InvalidArgumentError(`Use one of ${LOG_LEVELS.slice(0, -1).join(", ")}.`);
  return level;
}

/** Reads a number of lines or seconds. */
export function parseCount(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("Use a whole number up to 999999.");
  return Number(text);
}

export const PORT_ABOUT = "the port of the page and the API, instead of GATEWAY_PORT";

export interface PortOption {
  readonly port?: number;
}

/** Turns the option into a setting that wins over the environment. */
export function givenPort(port: number | undefined): { readonly GATEWAY_PORT?: string } {
  return port === undefined ? {} : { GATEWAY_PORT: String(port) };
}

export function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("Use a port from 0 to 65535 (0 picks a free one).");
  return Number(text);
}

/**
 * `--home` may stand anywhere before `--`, whatever the command: it says which settings are read, and those have to be known
 * before the command is.
 */
export function takeHome(argv: readonly string[]): {
  readonly words: readonly string[];
  readonly home: string | undefined;
} {
  const words: string[] = [];
  let home: string | undefined;
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] as string;
    if (word === "--") return { words: [...words, ...argv.slice(at)], home };
    if (word === "--home" || word.startsWith("--home=")) {
      home = word === "--home" ? argv[++at] : word.slice("--home=".length);
      if (!home?.trim() || home.startsWith("-"))
        throw new CommanderError(2, "usage", "postern: --home needs the path of a folder");
    } else words.push(word);
  }
  return { words, home };
}

/** The first word that is neither an option of the program nor the value of one: the command. */
export function findCommand(words: readonly string[], options: readonly Option[]): string | undefined {
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    if (!word.startsWith("-")) return word;
    if (options.some((option) => option.required && (option.long === word || option.short === word))) at++;
  }
  return undefined;
}
