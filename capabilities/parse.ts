/** Parses capabilities files. Pure; reports all problems at once. */
import {
  ANY_HOST,
  ANY_TOOL,
  type Capabilities,
  type Choices,
  type Credential,
  type CredentialLocation,
  type GrantedFolder,
  type ParamRole,
  type Setting,
  type SettingFormat,
} from "./capabilities.ts";
import { createFileReader, FileError, type FileProblem, type SchemaChecker, toRateLimit } from "./file.ts";
import { cannotHoldCredential } from "./headers.ts";
import schema from "./schema.json" with { type: "json" };
import { type ChosenHost, hostOfSetting, readSetting } from "./settings.ts";
import { refuseVariable } from "./variables.ts";

/** Thrown by the parser; the message lists all problems. */
export class CapabilitiesError extends FileError {
  constructor(problems: readonly FileProblem[]) {
    super("The capabilities file", problems);
    this.name = "CapabilitiesError";
  }
}

/**
 * Parses a capabilities file, given as text or as parsed JSON, with what the operator chose for the installation: what stands in the
 * result is what is allowed. Throws a `CapabilitiesError`.
 */
export type CapabilitiesParser = (source: unknown, choices?: Choices) => Capabilities;

/** `show` spells out characters that nobody sees or a terminal acts on; a file may have none of them. */
export function createCapabilitiesParser(
  compile: SchemaChecker,
  show: (text: string) => string,
): CapabilitiesParser {
  const read = createFileReader<CapabilitiesFile>({
    schema,
    compile,
    show,
    contradictions,
    refuse: (problems) => new CapabilitiesError(problems),
  });
  return (source, choices = { settings: {}, privateHosts: [] }) => toCapabilities(read(source), choices);
}

/** The file's JSON once the schema has accepted it. */
interface CapabilitiesFile {
  version: string;
  wit_version: string;
  http?: {
    allowlist?: { host: HostInFile; path_prefix: string; methods: string[] }[];
    rate_limit?: Parameters<typeof toRateLimit>[0];
    redirects?: boolean;
    pdf_as_text?: boolean;
    timeout_secs?: number;
    credentials?: Record<
      string,
      { secret_name: string; location: LocationInFile; host_patterns: HostInFile[]; optional?: boolean }
    >;
  };
  limits?: { memory_mb?: number; timeout_secs?: number };
  secrets?: { allowed_names?: string[] };
  auth?: {
    secret_name: string;
    display_name?: string;
    instructions?: string;
    setup_url?: string;
    token_hint?: string;
    env_var?: string;
    oauth?: {
      authorization_url: string;
      token_url: string;
      client_id?: string;
      client_id_secret?: string;
      client_secret_secret?: string;
      scopes?: string[];
    };
  };
  setup?: { required_secrets?: (string | { name: string; prompt?: string })[] };
  params?: Record<string, ParamRole>;
  settings?: SettingInFile[];
  state?: { max_mb?: number };
  agent_tools?: string[];
  files?: GrantedFolder[];
}

type HostInFile = string | { setting: string };

interface SettingInFile {
  name: string;
  description: string;
  format: SettingFormat;
  default?: string;
  required?: boolean;
}

type LocationInFile =
  | Exclude<CredentialLocation, { type: "header" } | { type: "basic" }>
  | { type: "basic"; username: string | { setting: string } }
  | { type: "header"; name: string; prefix?: string };

/** Checks that the schema cannot express. */
function contradictions(file: CapabilitiesFile): FileProblem[] {
  const problems: FileProblem[] = [];
  const add = (path: string, problem: string) => problems.push({ path, problem });
  const variable = file.auth?.env_var;
  const refusal = variable === undefined ? undefined : refuseVariable(variable);
  if (refusal !== undefined) add("auth.env_var", `${refusal}, given "${variable}"`);
  const oauth = file.auth?.oauth;
  if (oauth !== undefined && oauth.client_id === undefined && oauth.client_id_secret === undefined)
    add(
      "auth.oauth.client_id",
      "is missing: give the client ID, or client_id_secret with the name of the secret that holds it",
    );
  for (const [name, { location }] of Object.entries(file.http?.credentials ?? {})) {
    if (location.type !== "header") continue;
    if (!cannotHoldCredential(location.name.toLowerCase())) continue;
    add(
      `http.credentials.${name}.location.name`,
      `must be a header that does not control the connection, given "${location.name}"`,
    );
  }
  if (file.agent_tools !== undefined && file.agent_tools.length > 1 && file.agent_tools.includes(ANY_TOOL))
    add("agent_tools", `must name tools, or be ["${ANY_TOOL}"] alone`);
  return [...problems, ...webProblems(file), ...settingProblems(file), ...folderProblems(file)];
}

const READS = ["GET", "HEAD"];

/** A tool that may read any page can tell any server what it knows, so it gets nothing that is worth telling. */
function webProblems({ http, auth, files = [], agent_tools }: CapabilitiesFile): FileProblem[] {
  const problems: FileProblem[] = [];
  const add = (path: string, problem: string) => problems.push({ path, problem });
  const rules = http?.allowlist ?? [];
  if (!rules.some(({ host }) => host === ANY_HOST)) return [];
  const beside = 'beside the host "*"';
  rules.forEach(({ host, path_prefix, methods }, at) => {
    const written = methods.filter((method) => !READS.includes(method));
    if (written.length > 0)
      add(
        `http.allowlist[${at}].methods`,
        `must only be GET and HEAD ${beside}, given ${written.join(", ")}`,
      );
    if (host === ANY_HOST && path_prefix !== "/")
      add(`http.allowlist[${at}].path_prefix`, `must be "/" for the host "*", given "${path_prefix}"`);
  });
  if (Object.keys(http?.credentials ?? {}).length > 0)
    add("http.credentials", `must be empty ${beside}: put what needs a credential into another tool`);
  if (auth !== undefined) add("auth", `must not be there ${beside}`);
  if (agent_tools !== undefined) add("agent_tools", `must not be there ${beside}`);
  if (files.length > 0)
    add("files", `must be empty ${beside}: put what needs the user's files into another tool`);
  const { requests_per_minute, requests_per_hour } = http?.rate_limit ?? {};
  if (requests_per_minute === undefined || requests_per_hour === undefined)
    add("http.rate_limit", `must say requests_per_minute and requests_per_hour ${beside}`);
  return problems;
}

function folderProblems({ files = [] }: CapabilitiesFile): FileProblem[] {
  return files.flatMap(({ path }, at) =>
    files.findIndex((other) => toFolder(other.path) === toFolder(path)) === at
      ? []
      : [{ path: `files[${at}].path`, problem: `must be given once, given "${path}" again` }],
  );
}

function toFolder(path: string): string {
  return path === "/" ? path : path.replace(/\/$/, "").normalize("NFC");
}

function settingProblems({ settings = [], http }: CapabilitiesFile): FileProblem[] {
  const problems: FileProblem[] = [];
  const add = (path: string, problem: string) => problems.push({ path, problem });
  settings.forEach(({ name, format, default: given }, at) => {
    if (settings.findIndex((other) => other.name === name) !== at)
      add(`settings[${at}].name`, `must be given once, given "${name}" again`);
    if (given === undefined) return;
    const read = readSetting(format, given);
    if (!read.ok) add(`settings[${at}].default`, `${read.problem}, given "${given}"`);
    else if (hostOfSetting(format, read.value)?.isException === true)
      add(
        `settings[${at}].default`,
        `must be https without a port, which only the operator may choose, given "${given}"`,
      );
  });
  const check = (path: string, host: HostInFile) => {
    if (typeof host === "string") return;
    const setting = settings.find(({ name }) => name === host.setting);
    if (setting?.format === "host" || setting?.format === "url") return;
    const what = setting === undefined ? "is not in settings" : `has the format ${setting.format}`;
    add(`${path}.setting`, `must name a setting whose format is host or url; "${host.setting}" ${what}`);
  };
  (http?.allowlist ?? []).forEach(({ host }, at) => {
    check(`http.allowlist[${at}].host`, host);
  });
  for (const [name, { location }] of Object.entries(http?.credentials ?? {})) {
    if (location.type !== "basic" || typeof location.username === "string") continue;
    const { setting } = location.username;
    const format = settings.find((one) => one.name === setting)?.format;
    if (format === "text") continue;
    const what = format === undefined ? "is not in settings" : `has the format ${format}`;
    add(
      `http.credentials.${name}.location.username.setting`,
      `must name a setting whose format is text; "${setting}" ${what}`,
    );
  }
  for (const [name, { host_patterns }] of Object.entries(http?.credentials ?? {}))
    host_patterns.forEach((host, at) => {
      check(`http.credentials.${name}.host_patterns[${at}]`, host);
    });
  return problems;
}

function toSetting(setting: SettingInFile, given: Choices["settings"]): Setting {
  const { name, description, format, required = false } = setting;
  const read = (text: string | undefined) => {
    // A value that was given to another version may have another format there.
    const result = text === undefined ? undefined : readSetting(format, text);
    return result?.ok ? result.value : undefined;
  };
  const fallback = read(setting.default);
  const value = read(Object.hasOwn(given, name) ? given[name] : undefined) ?? fallback;
  return { name, description, format, isRequired: required, default: fallback, value };
}

function toCapabilities(file: CapabilitiesFile, choices: Choices): Capabilities {
  const { http, limits, auth } = file;
  const settings = (file.settings ?? []).map((setting) => toSetting(setting, choices.settings));
  const hostNamed = (name: string): ChosenHost | undefined => {
    const { format, value } = settings.find((setting) => setting.name === name) ?? {};
    return format === undefined || value === undefined ? undefined : hostOfSetting(format, value);
  };
  const named = (http?.allowlist ?? []).flatMap(({ host }) =>
    typeof host === "string" ? [] : (hostNamed(host.setting)?.hostAndPort ?? []),
  );
  return {
    version: file.version,
    witVersion: file.wit_version,
    http: http && {
      allowlist: (http.allowlist ?? []).map(({ host, path_prefix: pathPrefix, methods }) => {
        if (typeof host === "string") return { host: host.toLowerCase(), pathPrefix, methods };
        const { setting } = host;
        const chosen = hostNamed(setting);
        return { host: chosen?.host ?? "", setting, pathPrefix: (chosen?.path ?? "") + pathPrefix, methods };
      }),
      redirects: http.redirects ?? false,
      pdfAsText: http.pdf_as_text ?? false,
      privateHosts: choices.privateHosts.filter((host) => named.includes(host)),
      rateLimit: toRateLimit(http.rate_limit),
      timeoutSecs: http.timeout_secs ?? 30,
      credentials: Object.entries(http.credentials ?? {}).map(
        ([name, credential]): Credential => ({
          name,
          secretName: credential.secret_name,
          isOptional: credential.optional ?? false,
          location: toLocation(credential.location, settings),
          hostPatterns: credential.host_patterns.flatMap((pattern) =>
            typeof pattern === "string" ? pattern.toLowerCase() : (hostNamed(pattern.setting)?.host ?? []),
          ),
        }),
      ),
    },
    limits: { memoryMb: limits?.memory_mb ?? 64, timeoutSecs: limits?.timeout_secs ?? 60 },
    secretNames: file.secrets?.allowed_names ?? [],
    auth: auth && {
      secretName: auth.secret_name,
      displayName: auth.display_name ?? auth.secret_name,
      instructions: auth.instructions ?? "",
      setupUrl: auth.setup_url,
      tokenHint: auth.token_hint,
      envVar: auth.env_var,
      oauth: auth.oauth && {
        authorizationUrl: auth.oauth.authorization_url,
        tokenUrl: auth.oauth.token_url,
        clientId: auth.oauth.client_id,
        clientIdSecret: auth.oauth.client_id_secret,
        clientSecretSecret: auth.oauth.client_secret_secret,
        scopes: auth.oauth.scopes ?? [],
      },
    },
    requiredSecrets: (file.setup?.required_secrets ?? []).map((secret) => {
      const { name, prompt = name } = typeof secret === "string" ? { name: secret } : secret;
      return { name, prompt };
    }),
    params: file.params ?? {},
    settings,
    state: file.state && { maxMb: file.state.max_mb ?? 1 },
    agentTools: file.agent_tools ?? [],
    files: (file.files ?? []).map(({ path, access }) => ({ path: toFolder(path), access })),
  };
}

function toLocation(location: LocationInFile, settings: readonly Setting[]): CredentialLocation {
  switch (location.type) {
    case "basic": {
      const { username } = location;
      if (typeof username === "string") return { type: "basic", username };
      const { setting } = username;
      const chosen = settings.find(({ name }) => name === setting)?.value ?? "";
      return { type: "basic", username: chosen, setting };
    }
    case "header":
      return { type: "header", name: location.name, prefix: location.prefix ?? "" };
    case "url_path":
      return { type: "url_path", placeholder: `{${location.placeholder.replace(/^\{|\}$/g, "")}}` };
    default:
      return location;
  }
}
