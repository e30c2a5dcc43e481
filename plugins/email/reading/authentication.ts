/** Whether a mail is from its From, as our mail server says on top of it in `Authentication-Results` (RFC 8601). */
import { type HeaderLine, textIn, withoutComments } from "./header.ts";

interface Results {
  readonly id: string;
  readonly methods: readonly Method[];
}

interface Method {
  readonly name: string;
  readonly result: string;
  /** Such as `header.from`. */
  readonly properties: ReadonlyMap<string, string>;
}

/** Our server writes on top of what it was given: below the first of these, everything is the sender's. */
const SENDERS_OWN = new Set([
  ...["from", "sender", "reply-to", "to", "cc", "subject", "date", "message-id", "in-reply-to", "references"],
  ...["mime-version", "content-type", "content-transfer-encoding", "content-disposition", "dkim-signature"],
]);

/** Returns undefined where our server vouches for the domain, and otherwise the reason. */
export function whyNotAuthentic(
  lines: readonly HeaderLine[],
  authservId: string,
  domain: string,
): string | undefined {
  const own = ownResults(lines, authservId);
  if (own.length === 0) return `it has no Authentication-Results of ${authservId}`;
  const methods = own.flatMap((results) => results.methods);
  const told = methods.filter(({ name, result }) => name === "dmarc" && result !== "none");
  if (told.length > 0)
    return told.every((method) => method.result === "pass" && isFor(method, domain, ["header.from"]))
      ? undefined
      : "DMARC did not pass";
  const isAligned = methods.some(
    (method) =>
      method.result === "pass" &&
      ((method.name === "spf" && isFor(method, domain, ["smtp.mailfrom"])) ||
        // Only the domain that signed counts: an identity is what its signer writes.
        (method.name === "dkim" &&
          isFor(method, domain, [method.properties.has("header.d") ? "header.d" : "header.i"]))),
  );
  return isAligned ? undefined : `neither SPF nor DKIM passed for ${domain}`;
}

/** The names that sign the results in a mail's header, for an operator who looks for ours. */
export function authservIdsIn(lines: readonly HeaderLine[]): readonly string[] {
  return lines.filter(({ key }) => key === "authentication-results").map((line) => parseResults(line).id);
}

/**
 * Above the first Received nobody but our server can have written. Below it a server may have put its results under its own
 * Received, where what the sender forged follows: of those only the topmost counts.
 */
function ownResults(lines: readonly HeaderLine[], authservId: string): readonly Results[] {
  const own: Results[] = [];
  let isBelowReceived = false;
  for (const line of lines) {
    if (SENDERS_OWN.has(line.key)) break;
    if (line.key === "received") {
      if (own.length > 0) break;
      isBelowReceived = true;
    }
    if (line.key !== "authentication-results") continue;
    const results = parseResults(line);
    if (results.id !== authservId) continue;
    own.push(results);
    if (isBelowReceived) break;
  }
  return own;
}

function parseResults(line: HeaderLine): Results {
  const [first = "", ...rest] = withoutComments(textIn(line)).toLowerCase().split(";");
  const methods = rest.flatMap((part): Method[] => {
    const words = part.trim().split(/\s+/).join(" ").replaceAll(" =", "=").replaceAll("= ", "=").split(" ");
    const [said = "", ...properties] = words;
    const [name = "", result = ""] = said.split("=");
    const pairs = properties.map((property): [string, string] => {
      const at = property.indexOf("=");
      return [property.slice(0, Math.max(at, 0)), property.slice(at + 1)];
    });
    // The first of a name counts: a value with a blank in it cannot add another.
    return result === ""
      ? []
      : [{ name: name.split("/")[0] ?? "", result, properties: new Map(pairs.toReversed()) }];
  });
  return { id: first.trim().split(/\s+/)[0] ?? "", methods };
}

function isFor({ properties }: Method, domain: string, names: readonly string[]): boolean {
  return names.some((name) => {
    const value = properties.get(name);
    return value !== undefined && value.slice(value.lastIndexOf("@") + 1) === domain;
  });
}
