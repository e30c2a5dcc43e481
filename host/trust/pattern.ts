/** Trust rules such as `oci://registry.example/acme/*`, by whole segments; a last `*` stands for one segment or more. */

import type { ToolOrigin } from "../../kernel/kit/tools.ts";
import { Fault } from "../../kernel/plugin.ts";

type Scheme = "oci" | "https" | "npm";

export interface SourceAddress {
  readonly scheme: Scheme;
  /** The host first, where there is one. */
  readonly segments: readonly string[];
}

export interface Pattern extends SourceAddress {
  /** It ends with `*`. */
  readonly isOpen: boolean;
}

const MAX_CHARS = 1024;
const EXAMPLES = "oci://registry.example/acme/*, https://downloads.example/tools/* or npm:@acme/*";
// Other characters change when they become part of a path: a rule must not look as if it matched.
const SEGMENT = /^[A-Za-z0-9._~@+-]+$/;
const HOST = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+){0,20}|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?$/;
const DOCKER_HUB = ["index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"];

/** A fault where a person could take it to mean something else than it would. */
export function parsePattern(text: string): Pattern {
  const refuse = (why: string) =>
    new Fault(
      "invalid",
      "trust_pattern",
      `${JSON.stringify(text.slice(0, 200))} is not a valid pattern: ${why}. Write it like ${EXAMPLES}.`,
      { param: "pattern", usage: true },
    );
  if (text.length > MAX_CHARS) throw refuse(`it has more than ${MAX_CHARS} characters`);
  const [scheme, rest] = splitScheme(text) ?? [];
  if (scheme === undefined || rest === undefined) throw refuse("it must begin with oci://, https:// or npm:");
  const parts = rest.split("/");
  const isOpen = parts.at(-1) === "*";
  const segments = isOpen ? parts.slice(0, -1) : parts;
  if (segments.some((part) => part.includes("*"))) throw refuse("* can only be the whole last segment");
  if (segments.some((part) => part === "" || part === "." || part === ".."))
    throw refuse("it has an empty segment, or one that is a dot");
  if (scheme !== "npm" && segments.length > 0) {
    const host = normalizeHost(segments[0] ?? "");
    if (!HOST.test(host)) throw refuse("what follows // has to be a host, with a port where it needs one");
    segments[0] = host;
  }
  const named = scheme === "npm" ? segments : segments.slice(1);
  if (!named.every((part) => SEGMENT.test(part)))
    throw refuse("only letters, digits and . _ ~ @ + - can stand between the slashes");
  if (scheme === "oci" && named.some((part) => part.includes("@") || part !== part.toLowerCase()))
    throw refuse("a rule is for every tag and digest of a repository, whose name is in lower case");
  if (scheme === "npm" && (named.length > 2 || named.some((part) => part.includes("@", 1))))
    throw refuse("a rule is for every version of a package");
  if (scheme === "npm" && named.length > 0 && named[0]?.startsWith("@") !== (named.length === 2 || isOpen))
    throw refuse("only a scope (npm:@acme/*) can be followed by a slash, and it must be");
  if (!isOpen && scheme !== "npm" && named.length === 0)
    throw refuse(`it names only a host; end it with /* for everything there`);
  return { scheme, segments, isOpen };
}

export function formatPattern({ scheme, segments, isOpen }: Pattern): string {
  return `${scheme}:${scheme === "npm" ? "" : "//"}${[...segments, ...(isOpen ? ["*"] : [])].join("/")}`;
}

/** Undefined where no rule can be for it: what is on this machine's disk. */
export function placeOf({
  kind,
  reference,
}: Pick<ToolOrigin, "kind" | "reference">): SourceAddress | undefined {
  if (kind === "https") {
    const url = new URL(reference);
    return { scheme: kind, segments: [normalizeHost(url.host), ...decodePath(url.pathname)] };
  }
  const [scheme, rest = ""] = splitScheme(reference) ?? [];
  if (scheme !== kind) return undefined;
  if (kind === "npm") {
    const at = rest.indexOf("@", 1);
    return { scheme: kind, segments: (at === -1 ? rest : rest.slice(0, at)).split("/") };
  }
  const [host = "", ...path] = rest.split("/");
  const segments = path.map((part) => part.split("@")[0]?.split(":")[0] ?? "");
  return { scheme: kind, segments: [normalizeHost(host), ...segments] };
}

export function isFor(pattern: Pattern, place: SourceAddress): boolean {
  const { scheme, segments, isOpen } = pattern;
  if (scheme !== place.scheme) return false;
  const isLongEnough = isOpen
    ? place.segments.length > segments.length
    : place.segments.length === segments.length;
  return isLongEnough && segments.every((part, index) => part === place.segments[index]);
}

/** Above zero where the first says more precisely what it is for. Two that match the same tool equally well are the same. */
export function comparePrecision(one: Pattern, other: Pattern): number {
  return one.segments.length - other.segments.length || Number(other.isOpen) - Number(one.isOpen);
}

function splitScheme(text: string): readonly [Scheme, string] | undefined {
  for (const [prefix, scheme] of [
    ["oci://", "oci"],
    ["https://", "https"],
    ["npm:", "npm"],
  ] as const) {
    if (text.startsWith(prefix)) return [scheme, text.slice(prefix.length)];
  }
  return undefined;
}

/** As a server may read it: no way of writing a path leads around the rule for it. */
function decodePath(path: string): string[] {
  // Patterns are ASCII. What is no escape sequence stays, and does not keep the others from being read.
  const decoded = path.replace(/%[0-7][0-9A-Fa-f]/g, decodeURIComponent);
  return decoded.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
}

/** As it is dialled, whatever notation it is in; a text that is no host stays as it is. */
function normalizeHost(host: string): string {
  const named = host.toLowerCase().replace(/\.(?=:|$)/, "");
  const lower = HOST.test(named) ? (URL.parse(`https://${named}/`)?.host ?? named) : named;
  return DOCKER_HUB.includes(lower) ? "docker.io" : lower;
}

/** Returns the subject of a rule. A wildcard that would trust strangers is refused. */
export function checkSubject(subject: string): string {
  const refuse = (why: string) =>
    new Fault("invalid", "trust_identity", `--identity ${JSON.stringify(subject.slice(0, 200))} ${why}`, {
      param: "--identity",
      usage: true,
    });
  if (subject === "" || subject.length > MAX_CHARS || !/^[!-~]+$/.test(subject))
    throw refuse(`must be 1 to ${MAX_CHARS} visible characters, as they stand in the certificate`);
  const star = subject.indexOf("*");
  if (star === -1) return subject;
  if (star !== subject.length - 1 || !["/", "@"].includes(subject.at(-2) ?? ""))
    throw refuse("can have one *, at its end, after a / or @");
  // "https:", "", the host and the name of an account: less would be anybody there.
  const fixed = subject.slice(0, -1).split("/");
  if (!subject.startsWith("https://") || fixed.length < 5 || fixed.slice(2, 4).some((part) => part === ""))
    throw refuse("would trust strangers: name at least a host and an account before the *");
  return subject;
}

export function checkIssuer(issuer: string): string {
  const url = URL.parse(issuer);
  if (issuer.length <= MAX_CHARS && url?.protocol === "https:" && /^[!-~]+$/.test(issuer)) return issuer;
  const message =
    "--issuer must be the https URL of the sign-in service, for example https://token.actions.githubusercontent.com";
  throw new Fault("invalid", "trust_issuer", message, { param: "--issuer", usage: true });
}

export function isSubject(named: string, subject: string): boolean {
  return named.endsWith("*")
    ? subject.length >= named.length && subject.startsWith(named.slice(0, -1))
    : subject === named;
}
