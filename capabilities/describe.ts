/** Describes what a capabilities file grants, in sentences an operator can approve. */
import {
  type AllowRule,
  ANY_HOST,
  ANY_TOOL,
  type Capabilities,
  type Credential,
  type GrantedFolder,
  type ParamRole,
} from "./capabilities.ts";
import { hostCovers, hostMatches, pathMatches } from "./match.ts";
import { describeMethod } from "./methods.ts";

/**
 * One sentence per grant, such as "may use up to 64 MiB of memory". `exceptions` are the hosts and ports, as `host:port`,
 * at which the operator lets tools use other ports and plain http.
 */
export function describeCapabilities(
  capabilities: Capabilities,
  exceptions: Iterable<string> = [],
): string[] {
  const { http } = capabilities;
  const others = [...exceptions, ...(http?.privateHosts ?? [])];
  const rate =
    http &&
    `up to ${count(http.rateLimit.perMinute, "request")} per minute and ${http.rateLimit.perHour} per hour`;
  const requests = usableRules(capabilities).map((rule) => {
    const uses = (http?.credentials ?? []).flatMap((credential) => describeUse(credential, rule));
    return [describeRule(rule, others), rate, ...uses].join(", ");
  });
  const unset = (http?.allowlist ?? []).filter(isUnset).map((rule) => describeRule(rule));
  return [
    ...(requests.length + unset.length > 0 ? [...requests, ...unset] : ["may not use the network"]),
    ...describeReach(capabilities).values(),
    ...describeSettings(capabilities),
    ...describeState(capabilities),
    ...describeTools(capabilities.agentTools),
    ...capabilities.files.map(describeFolder),
    ...describeSecrets(capabilities).values(),
    ...describeParams(capabilities).values(),
    ...describeBounds(capabilities).map(({ sentence }) => sentence),
  ];
}

/** Describes what `after` allows that `before` did not, and the reverse. If `added` is empty, nothing widened. */
export function compareCapabilities(
  before: Capabilities,
  after: Capabilities,
): { readonly added: readonly string[]; readonly removed: readonly string[] } {
  return {
    added: widenings(before, after, "was"),
    removed: widenings(after, before, "now"),
  };
}

function widenings(narrow: Capabilities, wide: Capabilities, when: "was" | "now"): string[] {
  const known = factsOf(narrow);
  const facts = [...factsOf(wide)].filter(([key]) => !known.has(key)).map(([, sentence]) => sentence);
  const bounds = [...describeRates(narrow), ...describeBounds(narrow)];
  const raised = [...describeRates(wide), ...describeBounds(wide)].flatMap(({ name, amount, sentence }) => {
    const other = bounds.find((bound) => bound.name === name);
    return other !== undefined && amount > other.amount ? [`${sentence} (${when} ${other.amount})`] : [];
  });
  const remembers = (wide.state?.maxMb ?? 0) > (narrow.state?.maxMb ?? 0) ? describeState(wide) : [];
  const calls = narrow.agentTools.includes(ANY_TOOL)
    ? []
    : describeTools(wide.agentTools.filter((name) => !narrow.agentTools.includes(name)));
  const folders = wide.files
    .filter((folder) => !narrow.files.some((other) => folderCovers(other, folder)))
    .map(describeFolder);
  return [
    ...newRequests(narrow, wide),
    ...newUses(narrow, wide),
    ...facts,
    ...remembers,
    ...calls,
    ...folders,
    ...raised,
  ];
}

function newRequests(narrow: Capabilities, wide: Capabilities): string[] {
  const known = usableRules(narrow);
  return usableRules(wide).flatMap((rule) => {
    const methods = rule.methods.filter(
      (method) => !known.some((other) => other.methods.includes(method) && ruleCovers(other, rule)),
    );
    return methods.length > 0 ? [describeRule({ ...rule, methods }, wide.http?.privateHosts)] : [];
  });
}

/** Describes new destinations of a secret, even if the request itself was allowed before. */
function newUses(narrow: Capabilities, wide: Capabilities): string[] {
  const known = pairs(narrow);
  const isKnown = ({ rule, credential }: Pair) =>
    known.some(
      (other) =>
        ruleCovers(other.rule, rule) &&
        other.credential.secretName === credential.secretName &&
        JSON.stringify(other.credential.location) === JSON.stringify(credential.location) &&
        meetingHosts(credential, rule).every((host) =>
          other.credential.hostPatterns.some((pattern) => hostCovers(pattern, host)),
        ),
    );
  return pairs(wide)
    .filter((pair) => !isKnown(pair))
    .map(
      ({ rule, credential }) =>
        `may send requests to ${describeUrl(rule)} ${describeUse(credential, rule).join(", ")}`,
    );
}

interface Pair {
  readonly rule: AllowRule;
  readonly credential: Credential;
}

function pairs(capabilities: Capabilities): Pair[] {
  return usableRules(capabilities).flatMap((rule) =>
    (capabilities.http?.credentials ?? [])
      .filter((credential) => meetingHosts(credential, rule).length > 0)
      .map((credential) => ({ rule, credential })),
  );
}

function meetingHosts({ hostPatterns }: Credential, rule: AllowRule): string[] {
  return hostPatterns.some((pattern) => hostCovers(pattern, rule.host))
    ? [rule.host]
    : hostPatterns.filter((pattern) => hostCovers(rule.host, pattern));
}

function ruleCovers(outer: AllowRule, inner: AllowRule): boolean {
  return hostCovers(outer.host, inner.host) && pathMatches(outer.pathPrefix, inner.pathPrefix);
}

/** A rule without methods, or without the host that the operator gives, allows nothing. */
function usableRules(capabilities: Capabilities): readonly AllowRule[] {
  return (capabilities.http?.allowlist ?? []).filter(
    ({ host, methods }) => methods.length > 0 && host !== "",
  );
}

function isUnset({ host, methods }: AllowRule): boolean {
  return host === "" && methods.length > 0;
}

function describeRule(rule: AllowRule, exceptions: readonly string[] = []): string {
  const { host, setting, methods } = rule;
  if (host === ANY_HOST) return `may read any public web page, without credentials${alsoAt(exceptions)}`;
  const requests = `may ${methods.map(describeMethod).join(", ")} ${describeUrl(rule, exceptions)}`;
  if (setting === undefined) return requests;
  return `${requests} (the setting \`${setting}\`${host === "" ? ", which has no value yet" : ""})`;
}

function alsoAt(exceptions: readonly string[]): string {
  return exceptions.length === 0 ? "" : `, and http(s)://${exceptions.join(", http(s)://")}`;
}

/** Names every address that a request may go to, with its scheme, and its port if it is not the default. */
function describeUrl(rule: AllowRule, exceptions: readonly string[] = []): string {
  const { host, setting, pathPrefix } = rule;
  const others = exceptions.filter((exception) =>
    hostMatches(host, exception.slice(0, exception.lastIndexOf(":"))),
  );
  const origins = [
    `https://${host || `<${setting}>`}`,
    ...others.map((exception) => `http(s)://${exception}`),
  ];
  const path = pathPrefix.endsWith("/") ? `${pathPrefix}*` : `${pathPrefix} and ${pathPrefix}/*`;
  return origins.map((origin) => `${origin}${path}`).join(" or ");
}

/** Describes where requests may go besides what the rules say, and what is done with answers: one sentence per fact, by key. */
function describeReach({ http }: Capabilities): Map<string, string> {
  const facts = new Map<string, string>();
  if (http?.redirects) facts.set("redirects", "follows redirects, up to 5, to where it may send requests");
  for (const host of http?.privateHosts ?? [])
    facts.set(`private ${host}`, `may reach ${host}, also if it is private, because you allowed it`);
  // The documents are nothing new. That Postern reads them is: its reader runs outside of the tool's sandbox and limits.
  if (http?.pdfAsText)
    facts.set("pdf", "gets the text of PDF documents, which Postern reads, instead of the documents");
  return facts;
}

/** The value of a setting is the operator's own choice; the hosts that it leads to are described as requests. */
function describeSettings({ settings }: Capabilities): string[] {
  return settings.map(({ name, description, value }) =>
    value === undefined
      ? `reads the setting \`${name}\`, which has no value yet: ${description}`
      : `reads the setting \`${name}\`, which is "${value}": ${description}`,
  );
}

function describeState({ state }: Capabilities): string[] {
  return state === undefined ? [] : [`may remember up to ${state.maxMb} MB for each user`];
}

/** One sentence for each tool: what it brings along is the tool's own grant. */
function describeTools(names: readonly string[]): string[] {
  return names.map((name) =>
    name === ANY_TOOL
      ? "may call every tool that the conversation may use, as if the model had called it, except where a person would be asked"
      : `may call the tool \`${name}\`, as if the model had called it, except where a person would be asked`,
  );
}

function describeFolder({ path, access }: GrantedFolder): string {
  const may = access === "write" ? "may read and write" : "may read";
  return path === "/"
    ? `${may} every file of the workspace`
    : `${may} the folder ${path.slice(1)} of the workspace`;
}

function folderCovers(outer: GrantedFolder, inner: GrantedFolder): boolean {
  return pathMatches(outer.path, inner.path) && (outer.access === "write" || inner.access === "read");
}

/** Describes how requests under the rule carry the credential; empty if they never do. */
function describeUse(credential: Credential, rule: AllowRule): string[] {
  const hosts = meetingHosts(credential, rule);
  if (hosts.length === 0) return [];
  const { location } = credential;
  const secret = `\`${credential.secretName}\``;
  const where = hosts[0] === rule.host ? "" : ` (only to ${hosts.join(", ")})`;
  switch (location.type) {
    case "bearer":
      return [`with ${secret} as the bearer token${where}`];
    case "basic":
      return [`with ${secret} as the password for ${describeUsername(location)}${where}`];
    case "header":
      return [`with ${secret} in the header ${location.name}${where}`];
    case "query_param":
      return [`with ${secret} in the query parameter ${location.name}${where}`];
    case "url_path":
      return [`with ${secret} replacing ${location.placeholder} in the path${where}`];
  }
}

function describeUsername({ username, setting }: Extract<Credential["location"], { type: "basic" }>): string {
  if (setting === undefined) return `"${username}"`;
  return username === "" ? `the setting \`${setting}\`` : `"${username}" (the setting \`${setting}\`)`;
}

/** Describes how secrets are used besides in requests: one sentence per fact, by key. */
function describeSecrets({ secretNames, auth, requiredSecrets }: Capabilities): Map<string, string> {
  const facts = new Map<string, string>();
  for (const name of secretNames) facts.set(`test ${name}`, `may check whether \`${name}\` is set`);
  for (const { name } of requiredSecrets) facts.set(`setup ${name}`, `asks you to enter \`${name}\``);
  if (auth?.envVar !== undefined)
    facts.set(
      `env ${auth.secretName} ${auth.envVar}`,
      `gets \`${auth.secretName}\` from the environment variable ${auth.envVar} if it is set`,
    );
  if (auth?.oauth !== undefined) {
    const { authorizationUrl, tokenUrl, scopes, clientIdSecret, clientSecretSecret } = auth.oauth;
    const at = `${hostOf(authorizationUrl)} and ${hostOf(tokenUrl)}`;
    facts.set(
      `oauth ${authorizationUrl} ${tokenUrl} ${auth.secretName}`,
      `gets \`${auth.secretName}\` by signing you in at ${at}`,
    );
    for (const scope of scopes)
      facts.set(`scope ${scope}`, `requests the scope ${scope} when signing you in`);
    for (const name of [clientIdSecret, clientSecretSecret]) {
      if (name === undefined) continue;
      facts.set(`client ${name} ${tokenUrl}`, `sends \`${name}\` to ${hostOf(tokenUrl)} when signing you in`);
    }
  }
  return facts;
}

const ROLES: Readonly<Record<ParamRole, string>> = {
  destination: "where a call goes",
  content: "what a call carries",
  selector: "which thing a call is about",
};

/** The roles of params decide what a person is asked about a call, so they are approved like a grant. */
function describeParams({ params }: Capabilities): Map<string, string> {
  return new Map(
    Object.entries(params).map(([name, role]) => [
      `param ${name} ${role}`,
      `says that \`${name}\` is ${ROLES[role]}`,
    ]),
  );
}

function factsOf(capabilities: Capabilities): Map<string, string> {
  const settings = capabilities.settings.map(
    ({ name, format, description }) =>
      [`setting ${name} ${format}`, `reads the setting \`${name}\`: ${description}`] as const,
  );
  return new Map([
    ...describeReach(capabilities),
    ...settings,
    ...describeSecrets(capabilities),
    ...describeParams(capabilities),
  ]);
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}

interface Bound {
  readonly name: string;
  readonly amount: number;
  readonly sentence: string;
}

function describeRates({ http }: Capabilities): Bound[] {
  if (http === undefined) return [];
  const bound = (name: string, amount: number): Bound => ({
    ...{ name, amount },
    sentence: `may send up to ${count(amount, "request")} per ${name}`,
  });
  return [bound("minute", http.rateLimit.perMinute), bound("hour", http.rateLimit.perHour)];
}

function describeBounds({ http, limits }: Capabilities): Bound[] {
  const { memoryMb, timeoutSecs } = limits;
  const run = `may run for up to ${count(timeoutSecs, "second")} per call`;
  const bounds: Bound[] = [
    { name: "memory", amount: memoryMb, sentence: `may use up to ${memoryMb} MiB of memory` },
    { name: "call", amount: timeoutSecs, sentence: run },
  ];
  if (http === undefined) return bounds;
  const wait = `may wait up to ${count(http.timeoutSecs, "second")} for each response`;
  return [{ name: "request", amount: http.timeoutSecs, sentence: wait }, ...bounds];
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
