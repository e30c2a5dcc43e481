/** Values of an installation's settings: what each format accepts, and the host that one may stand for in the allowlist. */
import type { Capabilities, SettingFormat } from "./capabilities.ts";

export type ReadSetting =
  | { readonly ok: true; readonly value: string }
  /** Completes a sentence, such as `must be true or false`. */
  | { readonly ok: false; readonly problem: string };

export interface ChosenHost {
  readonly host: string;
  readonly hostAndPort: string;
  /** In front of the rule's own path; empty, or without a slash at its end. */
  readonly path: string;
  /** It uses another port, or plain http: only an operator who agreed may have it so. */
  readonly isException: boolean;
}

const MAX_VALUE_LENGTH = 2000;
const HOST = /^(?:[a-z0-9_][a-z0-9_-]{0,62}(?:\.[a-z0-9_][a-z0-9_-]{0,62})*|\[[0-9a-f:.]+\])$/;
const ADDRESS = /^(https?):\/\/([^/?#@\\{}$%*\s]+)(\/[^?#\\{}$%*\s]*)?$/i;

/** Checks a value and returns it in its one form: no blanks around it, a host in lower case, an address without a slash at its end. */
export function readSetting(format: SettingFormat, given: string): ReadSetting {
  const text = given.trim();
  const refuse = (problem: string): ReadSetting => ({ ok: false, problem });
  if (text === "") return refuse("must not be empty");
  if (text.length > MAX_VALUE_LENGTH) return refuse(`must have at most ${MAX_VALUE_LENGTH} characters`);
  switch (format) {
    case "text":
      // People see it in the grants, and a tool may put it into a header.
      return /\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}/u.test(text)
        ? refuse("must not hold control, direction-changing or invisible characters")
        : { ok: true, value: text };
    case "number":
      return /^-?\d+(?:\.\d+)?$/.test(text) && Number.isFinite(Number(text))
        ? { ok: true, value: text }
        : refuse("must be a number");
    case "boolean":
      return text === "true" || text === "false"
        ? { ok: true, value: text }
        : refuse('must be "true" or "false"');
    case "host":
      return isPlainHost(text.toLowerCase())
        ? { ok: true, value: text.toLowerCase() }
        : refuse(
            'must be a host name such as "api.example.com", without scheme, port, path, wildcard or template',
          );
    case "url":
      return readAddress(text);
  }
}

function readAddress(text: string): ReadSetting {
  const [, scheme = "", authority = "", path = ""] = ADDRESS.exec(text) ?? [];
  const url = URL.parse(text);
  const [, host = "", port = ""] = /^(.*?)(?::(\d{1,5}))?$/.exec(authority.toLowerCase()) ?? [];
  // The parsed address must equal the text, or else people agree to one host and another is asked.
  const isSame = url !== null && isPlainHost(host) && url.hostname === host && url.pathname === (path || "/");
  if (scheme === "" || !isSame || path.includes("//"))
    return {
      ok: false,
      problem:
        'must be an address such as "https://search.example.com/base", without user name, query, wildcard, template or encoded characters',
    };
  const isDefault = port === "" || url.port === "";
  const value = `${scheme.toLowerCase()}://${host}${isDefault ? "" : `:${url.port}`}${path.replace(/\/$/, "")}`;
  return { ok: true, value };
}

/** A number in disguise (0x7f.1, 2130706433, 127.1) is another host to the reader than to the parser. */
function isPlainHost(host: string): boolean {
  return host.length <= 255 && HOST.test(host) && URL.parse(`https://${host}/`)?.hostname === host;
}

/** Returns the values for the tool by name, without those that are not set. */
export function settingValues({
  settings,
}: Pick<Capabilities, "settings">): Readonly<Record<string, string>> {
  return Object.fromEntries(
    settings.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
  );
}

/** Undefined where the format is no host's. `value` as `readSetting` returns it. */
export function hostOfSetting(format: SettingFormat, value: string): ChosenHost | undefined {
  if (format !== "host" && format !== "url") return undefined;
  const url = new URL(format === "host" ? `https://${value}` : value);
  const isHttps = url.protocol === "https:";
  return {
    host: url.hostname,
    hostAndPort: `${url.hostname}:${url.port || (isHttps ? 443 : 80)}`,
    path: url.pathname.replace(/\/$/, ""),
    isException: !isHttps || url.port !== "",
  };
}
