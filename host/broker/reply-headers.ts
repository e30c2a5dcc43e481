/** Picks the headers of an answer that a tool may read, and scrubs them and the body. */
import { CONNECTION_HEADERS } from "../../capabilities/headers.ts";
import type { Matcher } from "../../kernel/kit.ts";
import type { Answer, HeaderList } from "./grant.ts";

/**
 * A cookie that a server sets after it has seen a credential is as good as that credential, and no list of known
 * secrets has it. Browsers do not show it to `fetch` either.
 */
const COOKIES = ["set-cookie", "set-cookie2"];

/** The body is already decoded: a tool that read these would decode it again, or wait for other bytes. */
const ENCODING = ["content-encoding", "content-length"];

/** As undici gives them: names in lower case, one character for each byte. */
export function readHeaders(given: Readonly<Record<string, string | string[] | undefined>>): HeaderList {
  const named = String(given["connection"] ?? "").toLowerCase();
  const hidden = new Set([
    ...CONNECTION_HEADERS,
    ...COOKIES,
    ...named.split(",").map((name) => name.trim()),
    ...(isEncoded(given["content-encoding"]) ? ENCODING : []),
  ]);
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined || hidden.has(name) ? [] : [value].flat().map((one) => [name, one] as const),
  );
}

/** Undefined where the answer still shows a secret to a reader who looks for one: it cannot be given to the tool. */
export async function scrubAnswer(answer: Answer, secrets: Matcher): Promise<Answer | undefined> {
  const scrubbed = replaceSecrets(answer, secrets);
  const written = Buffer.from(scrubbed.headers.flat().join("\n"), "latin1");
  return (await secrets.discloses(scrubbed.body)) || (await secrets.discloses(written))
    ? undefined
    : scrubbed;
}

function replaceSecrets({ status, headers, body }: Answer, secrets: Matcher): Answer {
  const scrubbed = secrets.scrub(body);
  const isSame = scrubbed === body;
  const clean = (text: string) => Buffer.from(secrets.scrub(Buffer.from(text, "latin1"))).toString("latin1");
  return {
    status,
    headers: headers
      // A name with the mark in it would be no name.
      .filter(([name]) => clean(name) === name && (isSame || name !== "content-length"))
      .map(([name, value]) => [name, clean(value)]),
    body: scrubbed,
  };
}

function isEncoded(encoding: string | string[] | undefined): boolean {
  return encoding !== undefined && String(encoding).trim().toLowerCase() !== "identity";
}
