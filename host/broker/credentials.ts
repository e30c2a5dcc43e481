/** Chooses the credentials of a request, finds their values, and places each. */
import type {
  AuthSetup,
  Capabilities,
  Credential,
  HttpCapabilities,
} from "../../capabilities/capabilities.ts";
import { hostMatches } from "../../capabilities/match.ts";
import { encodePathValue } from "../../kernel/kit/secrets.ts";
import type { SecretRecord } from "../secrets/entry.ts";
import { type Holder, holderOf } from "../secrets/holder.ts";
import type { Vault } from "../secrets/secrets.ts";
import type { Refresh } from "./oauth.ts";
import { type AllowedRequest, Refused } from "./policy.ts";
import { createSecretMatcher, type SecretMatcher } from "./traces.ts";

export interface CredentialSourceOptions {
  readonly vault: Vault;
  /** Reads one environment variable; the kernel's reader, so that the value is masked. */
  readonly environment: (name: string) => string | undefined;
  readonly refresh: Refresh;
}

export type CredentialSource = ReturnType<typeof createCredentialSource>;

export function createCredentialSource(options: CredentialSourceOptions) {
  const { vault, environment, refresh } = options;
  const fromEnvironment = (auth: AuthSetup | undefined) =>
    auth?.envVar === undefined ? undefined : environment(auth.envVar) || undefined;
  const givenTo = (holder: Holder, secretName: string, auth: AuthSetup | undefined) =>
    auth?.secretName === secretName && !holder.ownOnly ? fromEnvironment(auth) : undefined;
  return {
    async has(holder: Holder, secretName: string, auth: AuthSetup | undefined) {
      if (givenTo(holder, secretName, auth) !== undefined) return true;
      const record = await vault.of(holder).values.read(secretName);
      return record !== undefined && !isSpent(record);
    },
    /** The user's own, then the environment, then the store; an OAuth token that is about to expire is refreshed on the way. */
    async value(holder: Holder, secretName: string, auth: AuthSetup | undefined) {
      const { values } = vault.of(holder);
      const own = await values.readOwn(secretName);
      const given = own === undefined ? givenTo(holder, secretName, auth) : undefined;
      if (given !== undefined) return given;
      const record = own ?? (await values.read(secretName));
      return record && (await refresh(values, secretName, record)).value;
    },
    /** Returns the question to ask before this tool may use an existing secret; undefined if it may use it, or if there is none. */
    async question(holder: Holder, secretName: string) {
      const shared = { ...holder, user: undefined };
      for (const one of holder.user === undefined || holder.ownOnly ? [holder] : [holder, shared]) {
        const standing = await vault.of(one).secrets.standing(secretName);
        if (standing.type === "asks") return standing.question;
      }
      return undefined;
    },
    /** Every value there is, for the scan of what leaves and what comes back. */
    async known(auth: AuthSetup | undefined): Promise<readonly string[]> {
      const given = fromEnvironment(auth);
      const stored = await vault.known();
      return given === undefined ? stored : [...stored, given];
    },
  };
}

/** A search for the values that are read. Building it takes longer than using it, and secrets change seldom. */
export function createMatcherCache<Args extends unknown[]>(
  read: (...args: Args) => Promise<readonly string[]>,
): (...args: Args) => Promise<SecretMatcher> {
  let last: { readonly values: readonly string[]; readonly secrets: SecretMatcher } | undefined;
  return async (...args) => {
    const values = await read(...args);
    const isSame =
      last?.values.length === values.length && values.every((value, at) => value === last?.values[at]);
    if (last === undefined || !isSame) last = { values, secrets: createSecretMatcher(values) };
    return last.secrets;
  };
}

/** An expired token that nothing can renew is as good as none: the user has to sign in again. */
export function isSpent({ oauth }: SecretRecord): boolean {
  return oauth?.refreshToken === undefined && (oauth?.expiresAt ?? Number.POSITIVE_INFINITY) <= Date.now();
}

export interface ToolVersion {
  /** Whose call it is; absent where it is about what all users share. */
  readonly user?: string | undefined;
  readonly ownOnly?: boolean | undefined;
  readonly name: string;
  readonly digest: string;
  readonly capabilities: Capabilities;
}

/** The first credential of the tool that is not there: checked before the call, so that nothing is sent without it. */
export async function missingCredential(
  tool: ToolVersion,
  source: Pick<CredentialSource, "has" | "question">,
): Promise<{ readonly secret: string; readonly message: string } | undefined> {
  const { capabilities } = tool;
  const holder = holderOf(tool);
  for (const { secretName, isOptional } of capabilities.http?.credentials ?? []) {
    if (isOptional || (await source.has(holder, secretName, capabilities.auth))) continue;
    const { auth } = capabilities;
    const name = auth?.secretName === secretName ? auth.displayName : secretName;
    const how =
      auth?.secretName === secretName ? `postern tool auth ${tool.name}` : `postern tool setup ${tool.name}`;
    const question = await source.question(holder, secretName);
    const why =
      question === undefined ? "which is not set." : `and nobody has agreed to that yet. ${question}`;
    return {
      secret: secretName,
      message: `The tool ${tool.name} needs its credential for ${name}, ${why} The operator gives it on the page, or by "${how}".${tool.user === undefined ? "" : " Each user can give their own on the page, too."}`,
    };
  }
  return undefined;
}

export async function missingSecrets(
  tool: ToolVersion,
  source: Pick<CredentialSource, "has">,
): Promise<readonly string[]> {
  const { http, auth, requiredSecrets } = tool.capabilities;
  const named = [
    ...(http?.credentials ?? []).filter(({ isOptional }) => !isOptional).map(({ secretName }) => secretName),
    ...requiredSecrets.map(({ name }) => name),
  ];
  const holder = holderOf(tool);
  const missing = await Promise.all(
    [...new Set(named)].map(async (name) => ((await source.has(holder, name, auth)) ? [] : [name])),
  );
  return missing.flat();
}

/** The credentials for this host; the request itself has passed the allowlist already. */
export function credentialsFor(http: HttpCapabilities, url: URL): readonly Credential[] {
  return http.credentials.filter(({ hostPatterns }) =>
    hostPatterns.some((pattern) => hostMatches(pattern, url.hostname)),
  );
}

/** The request with the value in its place. A tool that fills the place itself is refused, not overruled in silence. */
export function placeCredential(
  request: AllowedRequest,
  credential: Credential,
  value: string,
): AllowedRequest {
  const { location } = credential;
  switch (location.type) {
    case "bearer":
      return withHeader(request, credential, "authorization", `Bearer ${value}`);
    case "basic": {
      // The value of a setting may have one, and the server would take what follows for a part of the password.
      if (location.username.includes(":")) throw new Refused("A user name may not hold a colon.");
      const pair = Buffer.from(`${location.username}:${value}`).toString("base64");
      return withHeader(request, credential, "authorization", `Basic ${pair}`);
    }
    case "header":
      return withHeader(request, credential, location.name.toLowerCase(), `${location.prefix}${value}`);
    case "query_param":
      return withQuery(request, credential, location.name, value);
    case "url_path":
      return withPath(request, credential, location.placeholder, value);
  }
}

function withHeader(
  request: AllowedRequest,
  credential: Credential,
  name: string,
  value: string,
): AllowedRequest {
  if (Object.hasOwn(request.headers, name))
    throw new Refused(
      `The header ${name} is where Postern puts \`${credential.secretName}\`; the tool may not set it.`,
    );
  if (!/^[\u0020-\u007e\u0080-\u00ff]*$/.test(value)) throw unusable(credential, "a header");
  return { ...request, headers: { ...request.headers, [name]: value } };
}

function withQuery(
  request: AllowedRequest,
  credential: Credential,
  name: string,
  value: string,
): AllowedRequest {
  if (request.url.searchParams.has(name))
    throw new Refused(
      `The query parameter ${name} is where Postern puts \`${credential.secretName}\`; the tool may not set it.`,
    );
  const url = new URL(request.url);
  // Appended as text: searchParams would rewrite what the tool has encoded its own way.
  url.search = `${url.search === "" ? "?" : `${url.search}&`}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  return { ...request, url };
}

function withPath(
  request: AllowedRequest,
  credential: Credential,
  placeholder: string,
  value: string,
): AllowedRequest {
  const written = new RegExp(
    placeholder
      .replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")
      .replace("\\{", "(?:\\{|%7[Bb])")
      .replace("\\}", "(?:\\}|%7[Dd])"),
    "g",
  );
  if (!written.test(request.url.pathname)) return request;
  // A segment of dots would climb out of the path that was allowed.
  if (/^\.*$/.test(value)) throw unusable(credential, "a path");
  const url = new URL(request.url);
  url.pathname = url.pathname.replace(written, () => encodePathValue(value));
  return { ...request, url };
}

function unusable({ secretName }: Credential, where: string): Refused {
  return new Refused(`\`${secretName}\` holds characters that ${where} cannot carry; set it again.`);
}
