/**
 * The one place that reads the environment. Each setting is declared where it is read: its type, default
 * and whether it is a secret are then known for `postern config`, and every bad value is kept as a
 * problem instead of thrown, so that the operator sees all of them at once.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { Fault, reason } from "./fault.ts";

export interface Env {
  /** true/false, 1/0, yes/no, on/off, in any case. */
  flag(name: string, fallback: boolean, about?: string): boolean;
  text(name: string, fallback: string, about?: string): string;
  text(name: string, fallback?: undefined, about?: string): string | undefined;
  integer(
    name: string,
    fallback: number,
    range: { readonly min: number; readonly max: number },
    about?: string,
  ): number;
  number(
    name: string,
    fallback: number | undefined,
    range: { readonly min: number; readonly max: number },
    about?: string,
  ): number | undefined;
  port(name: string, fallback: number, about?: string): number;
  oneOf<const Choice extends string>(
    name: string,
    choices: readonly Choice[],
    fallback: Choice,
    about?: string,
  ): Choice;
  /** Comma-separated; blanks are dropped. */
  list(name: string, about?: string): readonly string[];
  url(name: string, fallback?: string, about?: string): string | undefined;
  /** A URL. Its password is never shown, and hidden in every log line. */
  connection(name: string, about?: string): string | undefined;
  /** Never shown, and hidden in every log line. */
  secret(name: string, about?: string): string | undefined;
  /** Adds a problem that only this plugin can see, such as two settings that contradict each other. */
  refuse(name: string, accepted: string): void;
}

export type SettingSource = "environment" | ".env" | "default";

export interface Setting {
  readonly name: string;
  readonly plugin: string;
  readonly type: string;
  readonly about: string;
  readonly secret: boolean;
  readonly source: SettingSource;
  /** The value in use; undefined where it is not set and has no default. */
  readonly value: string | undefined;
}

export interface Problem {
  readonly name: string;
  readonly given: string;
  readonly accepted: string;
}

export type Variables = Readonly<Record<string, string | undefined>>;

const TRUE = new Set(["true", "1", "yes", "on"]);
const FALSE = new Set(["false", "0", "no", "off"]);

/** What runs code, and where everything is kept: for the operator to say, not for the folder somebody happens to be in. */
const OPERATORS_OWN = ["PLUGINS", "STORE_URL", "POSTERN_HOME"];

const NOWHERE = new Set(["ENOENT", "ENOTDIR"]);

/** Reads `.env` of a folder; the real environment wins over it. */
export function readDotEnv(folder: string): Variables {
  const file = join(folder, ".env");
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (error) {
    if (NOWHERE.has((error as NodeJS.ErrnoException).code ?? "")) return {};
    throw new Fault("config", "env_file_unreadable", `${file} cannot be read: ${reason(error)}`, {
      param: file,
    });
  }
}

/** Reads `.env` of a folder that may be anybody's, without what only the operator may set. */
export function readForeignDotEnv(folder: string): {
  readonly variables: Variables;
  readonly ignored: readonly string[];
} {
  const variables = { ...readDotEnv(folder) };
  const ignored = OPERATORS_OWN.filter((name) => variables[name]?.trim());
  for (const name of ignored) delete variables[name];
  return { variables, ignored };
}

export class Settings {
  readonly problems: Problem[] = [];
  readonly #environment: Variables;
  readonly #dotEnv: Variables;
  readonly #onSecret: (value: string) => void;
  readonly #declared = new Map<string, Setting>();
  /** How settings are shown of which a part is secret. */
  readonly #shown = new Map<string, (text: string) => string>();

  constructor(environment: Variables, dotEnv: Variables = {}, onSecret: (value: string) => void = () => {}) {
    this.#environment = environment;
    this.#dotEnv = dotEnv;
    this.#onSecret = onSecret;
  }

  get declared(): readonly Setting[] {
    return [...this.#declared.values()];
  }

  /** Throws every problem found so far as one fault. */
  assertSound(): void {
    if (this.problems.length === 0) return;
    const lines = this.problems.map(
      ({ name, given, accepted }) => `  ${name}: got ${given}, expected ${accepted}`,
    );
    const count = lines.length === 1 ? "1 setting is" : `${lines.length} settings are`;
    throw new Fault("config", "bad_settings", `${count} invalid; nothing was started.\n${lines.join("\n")}`);
  }

  /** The reader handed to one plugin. */
  for(plugin: string): Env {
    const read = <Value>(
      shape: { name: string; type: string; about: string | undefined; secret?: boolean },
      fallback: Value,
      accepted: string,
      parse: (text: string) => Value | undefined,
    ): Value => {
      const { name, type, about = "", secret = false } = shape;
      const { text, source } = this.#lookUp(name);
      const parsed = text === undefined ? fallback : parse(text);
      const value = parsed === undefined ? fallback : parsed;
      if (text !== undefined && parsed === undefined) {
        this.#complain({ name, given: secret ? "(hidden)" : JSON.stringify(text), accepted });
      }
      const words = Array.isArray(value) ? value.join(",") : value === undefined ? undefined : String(value);
      const shown = words === undefined ? undefined : (this.#shown.get(name)?.(words) ?? words);
      this.#declared.set(name, { name, plugin, type, about, secret, source, value: shown });
      return value;
    };
    const inRange =
      ({ min, max }: { min: number; max: number }, whole: boolean) =>
      (text: string) => {
        const value = /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
        return (whole ? Number.isSafeInteger(value) : Number.isFinite(value)) && value >= min && value <= max
          ? value
          : undefined;
      };

    return {
      flag: (name, fallback, about) =>
        read({ name, type: "boolean", about }, fallback, "true/false, 1/0, yes/no, on/off", (text) => {
          const word = text.toLowerCase();
          return TRUE.has(word) ? true : FALSE.has(word) ? false : undefined;
        }),
      text: ((name: string, fallback: string | undefined, about?: string) =>
        read<string | undefined>(
          { name, type: "string", about },
          fallback,
          "any text",
          (text) => text,
        )) as Env["text"],
      integer: (name, fallback, range, about) =>
        read(
          { name, type: "integer", about },
          fallback,
          `a whole number from ${range.min} to ${range.max}`,
          inRange(range, true),
        ),
      number: (name, fallback, range, about) =>
        read<number | undefined>(
          { name, type: "number", about },
          fallback,
          `a number from ${range.min} to ${range.max}`,
          inRange(range, false),
        ),
      port: (name, fallback, about) =>
        read(
          { name, type: "port", about },
          fallback,
          "a port from 0 to 65535 (0 picks a free one)",
          inRange({ min: 0, max: 65535 }, true),
        ),
      oneOf: (name, choices, fallback, about) =>
        read({ name, type: choices.join("|"), about }, fallback, choices.join(", "), (text) =>
          choices.find((choice) => choice === text.toLowerCase()),
        ),
      list: (name, about) =>
        read<readonly string[]>({ name, type: "list", about }, [], "words separated by commas", (text) =>
          text
            .split(",")
            .map((word) => word.trim())
            .filter((word) => word !== ""),
        ),
      url: (name, fallback, about) =>
        read<string | undefined>({ name, type: "url", about }, fallback, "an http or https URL", (text) =>
          /^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text : undefined,
        ),
      connection: (name, about) => {
        this.#shown.set(name, withoutPassword);
        const value = read<string | undefined>(
          { name, type: "url", about },
          undefined,
          "any text",
          (text) => text,
        );
        for (const password of passwordsIn(value ?? "")) this.#onSecret(password);
        return value;
      },
      secret: (name, about) => {
        const value = read<string | undefined>(
          { name, type: "string", about, secret: true },
          undefined,
          "any text",
          (text) => text,
        );
        if (value !== undefined) this.#onSecret(value);
        return value;
      },
      refuse: (name, accepted) => {
        const given = this.#lookUp(name).text;
        const hidden = this.#declared.get(name)?.secret === true;
        this.#complain({
          name,
          given:
            given === undefined
              ? "nothing"
              : hidden
                ? "(hidden)"
                : JSON.stringify(this.#shown.get(name)?.(given) ?? given),
          accepted,
        });
      },
    };
  }

  /** Two plugins that share a setting report it once. */
  #complain(problem: Problem): void {
    const isKnown = this.problems.some(
      ({ name, accepted }) => name === problem.name && accepted === problem.accepted,
    );
    if (!isKnown) this.problems.push(problem);
  }

  // An empty variable counts as unset: `GATEWAY_PORT= postern` is how a shell asks for the default.
  #lookUp(name: string): { text: string | undefined; source: SettingSource } {
    const real = this.#environment[name]?.trim();
    if (real) return { text: real, source: "environment" };
    const filed = this.#dotEnv[name]?.trim();
    return filed ? { text: filed, source: ".env" } : { text: undefined, source: "default" };
  }
}

// Up to the last @: a password may hold one that should have been written as %40.
const USERS_PASSWORD = /^([a-z][a-z\d+.-]*:\/\/[^:@/?#]*:)(.*)(?=@)/is;
const NAMED_PASSWORD = /([?&](?:ssl)?password=)([^&#]*)/gi;

function withoutPassword(url: string): string {
  return url.replace(USERS_PASSWORD, "$1***").replace(NAMED_PASSWORD, "$1***");
}

/** As written, and as meant. */
function passwordsIn(url: string): readonly string[] {
  const found = [USERS_PASSWORD.exec(url), ...url.matchAll(NAMED_PASSWORD)];
  return found.flatMap((match) => {
    const password = match?.[2] ?? "";
    if (password === "") return [];
    try {
      return [password, decodeURIComponent(password)];
    } catch {
      return [password];
    }
  });
}
