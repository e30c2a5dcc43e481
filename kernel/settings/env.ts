/**
 * The one place that reads the environment. Each setting is declared where it is read: its type, default
 * and whether it is a secret are then known for `postern config`, and every bad value is kept as a
 * problem instead of thrown, so that the operator sees all of them at once.
 */
import { isIP } from "node:net";
import { Fault } from "../fault.ts";

export interface Env {
  /** true/false, 1/0, yes/no, on/off, in any case. */
  flag(name: string, fallback: boolean, about?: string): boolean;
  text(name: string, fallback: string, about?: string): string;
  text(name: string, fallback?: undefined, about?: string): string | undefined;
  integer(name: string, fallback: number, range: Range, about?: string): number;
  number(name: string, fallback: number | undefined, range: Range, about?: string): number | undefined;
  port(name: string, fallback: number, about?: string): number;
  /** An address or host name to listen on. */
  host(name: string, fallback: string, about?: string): string;
  oneOf<const Choice extends string>(
    name: string,
    choices: readonly Choice[],
    fallback: Choice,
    about?: string,
  ): Choice;
  /** Comma-separated; blanks are dropped. */
  list(name: string, about?: string): readonly string[];
  /** An http or https URL. Its password is never shown, and hidden in every log line. */
  url(name: string, fallback?: string, about?: string): string | undefined;
  /** Any other URL, with the same care. */
  connection(name: string, about?: string): string | undefined;
  /** Never shown, and hidden in every log line. */
  secret(name: string, about?: string): string | undefined;
  /** Adds a problem that only this plugin can see, such as two settings that contradict each other. */
  refuse(name: string, accepted: string): void;
  /**
   * Says that a secret is sent to the URL that another setting holds. A secret of the environment never goes where the store says,
   * and a stored one nowhere else than where it went when it was stored.
   */
  sends(secret: string, url: string): void;
}

export type Variables = Readonly<Record<string, string | undefined>>;

/** A part of a comma-separated secret is hidden on its own from this length on. */
const LONG_PART = 32;

type Shape = Pick<Setting, "name" | "type" | "choices" | "range"> &
  Partial<Pick<Setting, "secret">> & { readonly about: string | undefined };

const TRUE = new Set(["true", "1", "yes", "on"]);
const FALSE = new Set(["false", "0", "no", "off"]);

/** The last label has a letter: otherwise it is an address, and a wrong one. */
const HOST_NAME =
  /^(?=.{1,253}$)(?:[a-z\d_](?:[a-z\d_-]*[a-z\d])?\.)*(?=[\w-]*[a-z])[a-z\d_](?:[a-z\d_-]*[a-z\d])?$/i;

export class Settings {
  readonly problems: Problem[] = [];
  readonly #environment: Variables;
  readonly #dotEnv: Variables;
  readonly #onSecret: (value: string) => void;
  readonly #stored: StoredValues;
  readonly #declared = new Map<string, Setting>();
  /** How settings are shown of which a part is secret. */
  readonly #shown = new Map<string, (text: string) => string>();

  readonly #sent = new Map<string, Set<string>>();

  constructor(
    environment: Variables,
    dotEnv: Variables = {},
    onSecret: (value: string) => void = () => {},
    stored: StoredValues = new Map(),
  ) {
    this.#environment = environment;
    this.#dotEnv = dotEnv;
    this.#onSecret = onSecret;
    this.#stored = stored;
  }

  over(stored: StoredValues): Settings {
    return new Settings(this.#environment, this.#dotEnv, this.#onSecret, stored);
  }

  get declared(): readonly Setting[] {
    return [...this.#declared.values()];
  }

  /** Returns the given values of a plugin's settings, unparsed, for a process of ours that reads them again. */
  textsOf(plugin: string): Readonly<Record<string, string>> {
    const own = this.declared.filter((setting) => setting.plugin === plugin);
    const texts = own.map(({ name }) => [name, this.#lookUp(name).text] as const);
    return Object.fromEntries(texts.filter((pair): pair is [string, string] => pair[1] !== undefined));
  }

  sentTo(secret: string): readonly string[] {
    return [...(this.#sent.get(secret) ?? [])];
  }

  /** Throws every problem found so far as one fault, unless each of them may still be solved. */
  assertSound(isSolvable: (problem: Problem) => boolean = () => false): void {
    if (this.problems.every(isSolvable)) return;
    const lines = this.problems.map(
      ({ name, given, accepted }) => `  ${name}: got ${given}, expected ${accepted}`,
    );
    const count = lines.length === 1 ? "1 setting is" : `${lines.length} settings are`;
    throw new Fault("config", "bad_settings", `${count} invalid; nothing was started.\n${lines.join("\n")}`);
  }

  for(plugin: string): Env {
    const read = <Value>(
      shape: Shape,
      fallback: Value,
      accepted: string,
      parse: (text: string) => Value | undefined,
    ): Value => {
      const { name, about = "", secret = false } = shape;
      const { text, source } = this.#lookUp(name);
      const parsed = text === undefined ? fallback : parse(text);
      const value = parsed === undefined ? fallback : parsed;
      if (text !== undefined && parsed === undefined)
        this.#complain({ name, given: this.#quote(name, text, secret), accepted });
      const words = wordsOf(value);
      const shown = words === undefined ? undefined : (this.#shown.get(name)?.(words) ?? words);
      const declared = { ...shape, plugin, about, secret, source, value: shown, fallback: wordsOf(fallback) };
      this.#declared.set(name, declared);
      return value;
    };
    // Its password is never shown.
    const readUrl = (
      name: string,
      fallback: string | undefined,
      about: string | undefined,
      accepted: string,
      parse: (text: string) => string | undefined,
    ): string | undefined => {
      this.#shown.set(name, withoutPassword);
      const value = read<string | undefined>({ name, type: "url", about }, fallback, accepted, parse);
      for (const password of passwordsIn(value ?? "")) this.#onSecret(password);
      return value;
    };
    const readText = (shape: Shape, fallback: string | undefined) =>
      read<string | undefined>(shape, fallback, "any text", (text) => text);
    const inRange =
      ({ min, max }: Range, whole: boolean) =>
      (text: string) => {
        const value = /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
        const isNumber = whole ? Number.isSafeInteger(value) : Number.isFinite(value);
        return isNumber && value >= min && value <= max ? value : undefined;
      };

    return {
      flag: (name, fallback, about) =>
        read({ name, type: "boolean", about }, fallback, "true/false, 1/0, yes/no, on/off", (text) => {
          const word = text.toLowerCase();
          return TRUE.has(word) ? true : FALSE.has(word) ? false : undefined;
        }),
      text: ((name: string, fallback: string | undefined, about?: string) =>
        readText({ name, type: "string", about }, fallback)) as Env["text"],
      integer: (name, fallback, range, about) =>
        read(
          { name, type: "integer", about, range },
          fallback,
          `a whole number from ${range.min} to ${range.max}`,
          inRange(range, true),
        ),
      number: (name, fallback, range, about) =>
        read<number | undefined>(
          { name, type: "number", about, range },
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
      host: (name, fallback, about) =>
        read(
          { name, type: "string", about },
          fallback,
          "an address such as 127.0.0.1 or ::1, or a host name, without a port",
          (text) => (isIP(text) > 0 || HOST_NAME.test(text) ? text : undefined),
        ),
      oneOf: (name, choices, fallback, about) =>
        read({ name, type: choices.join("|"), about, choices }, fallback, choices.join(", "), (text) =>
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
        readUrl(name, fallback, about, "an http or https URL", (text) =>
          /^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text : undefined,
        ),
      connection: (name, about) => readUrl(name, undefined, about, "any text", (text) => text),
      secret: (name, about) => {
        const value = readText({ name, type: "string", about, secret: true }, undefined);
        if (value !== undefined) this.#onSecret(value);
        // Several keys in one variable are each a secret.
        for (const part of value?.split(",") ?? [])
          if (part !== value && part.trim().length >= LONG_PART) this.#onSecret(part.trim());
        return value;
      },
      refuse: (name, accepted) => {
        const given = this.#lookUp(name).text;
        const hidden = this.#declared.get(name)?.secret === true;
        if (given === undefined) this.#complain({ name, given: "nothing", accepted, isMissing: true });
        else this.#complain({ name, given: this.#quote(name, given, hidden), accepted });
      },
      sends: (secret, url) => this.#send(secret, url),
    };
  }

  #send(secret: string, url: string): void {
    const key = this.#lookUp(secret);
    const { text, source } = this.#lookUp(url);
    if (key.text === undefined || text === undefined) return;
    this.#sent.set(secret, (this.#sent.get(secret) ?? new Set()).add(text));
    const { urls } = this.#stored.get(secret) ?? {};
    if (key.source !== "stored" && source === "stored")
      this.#complain({
        name: url,
        given: JSON.stringify(withoutPassword(text)),
        accepted: `a URL in the environment or .env, because ${secret} is set there and is sent nowhere else`,
      });
    if (key.source === "stored" && urls !== undefined && !urls.includes(text))
      this.#complain({
        name: secret,
        given: "(hidden)",
        accepted: `the secret once more, because it was stored ${urls.length === 0 ? "before there was a URL" : `for ${urls.map(withoutPassword).join(", ")}`} and ${url} is ${withoutPassword(text)}`,
      });
  }

  #quote(name: string, text: string, isHidden: boolean): string {
    return isHidden ? "(hidden)" : JSON.stringify(this.#shown.get(name)?.(text) ?? text);
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
    if (filed) return { text: filed, source: ".env" };
    const stored = this.#stored.get(name)?.text.trim();
    return stored ? { text: stored, source: "stored" } : { text: undefined, source: "default" };
  }
}

function wordsOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? value.join(",") : String(value);
}

// Up to the last @: a password may hold one that should have been written as %40.
const USERS_PASSWORD = /^([a-z][a-z\d+.-]*:\/\/[^:@/?#]*:)(.*)(?=@)/is;

const NAMED_PASSWORD = /([?&](?:ssl)?password=)([^&#]*)/gi;

function withoutPassword(url: string): string {
  return url.replace(USERS_PASSWORD, "$1***").replace(NAMED_PASSWORD, "$1***");
}

/** Returns each password both encoded and decoded. */
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

export type SettingSource = "environment" | ".env" | "stored" | "default";

/** A setting that the store keeps, below the environment and `.env` in rank. */
export interface StoredValue {
  readonly text: string;
  /** The addresses that a secret may be sent to; any for one that was just given. */
  readonly urls?: readonly string[];
}

export type StoredValues = ReadonlyMap<string, StoredValue>;

export interface Setting {
  readonly name: string;
  readonly plugin: string;
  readonly type: string;
  readonly about: string;
  readonly secret: boolean;
  readonly source: SettingSource;
  /** The value in use; undefined where it is not set and has no default. */
  readonly value: string | undefined;
  readonly fallback: string | undefined;
  readonly choices?: readonly string[];
  readonly range?: Range;
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

export interface Problem {
  readonly name: string;
  readonly given: string;
  readonly accepted: string;
  readonly isMissing?: boolean;
}
