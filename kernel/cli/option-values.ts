/** Parsers of option values; anything else is wrong usage. */
import { CommanderError, InvalidArgumentError, type Option } from "commander";

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

const PLACES = { "--home": "the path of a folder", "--url": "the address of a service" } as const;

type PlaceOption = keyof typeof PLACES;

/** `--home` and `--url` may stand anywhere before `--`: settings and service must be known before the command is. */
export function takePlace(argv: readonly string[]): {
  readonly words: readonly string[];
  readonly home: string | undefined;
  readonly url: string | undefined;
} {
  const words: string[] = [];
  const given = new Map<PlaceOption, string>();
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] as string;
    if (word === "--") {
      words.push(...argv.slice(at));
      break;
    }
    const option = (Object.keys(PLACES) as PlaceOption[]).find(
      (name) => word === name || word.startsWith(`${name}=`),
    );
    if (option === undefined) {
      words.push(word);
      continue;
    }
    const value = word === option ? argv[++at] : word.slice(option.length + 1);
    if (!value?.trim() || value.startsWith("-"))
      throw new CommanderError(2, "usage", `postern: ${option} needs ${PLACES[option]}`);
    given.set(option, value);
  }
  return { words, home: given.get("--home"), url: given.get("--url") };
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
