/** Names of signers in a trust rule. They are compared as they are written: no part of one is a pattern of any other kind. */
import { Fault } from "../../kernel/plugin.ts";

const MAX_CHARS = 1024;

/** What a rule names, checked: a wildcard that would trust strangers is refused. */
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
  throw new Fault(
    "invalid",
    "trust_issuer",
    "--issuer must be the https URL of the sign-in service, for example https://token.actions.githubusercontent.com",
    { param: "--issuer", usage: true },
  );
}

export function isSubject(named: string, subject: string): boolean {
  return named.endsWith("*")
    ? subject.length >= named.length && subject.startsWith(named.slice(0, -1))
    : subject === named;
}
