/** Parses capabilities files. Pure; reports all problems at once. */
import type { Capabilities, Credential, CredentialLocation, ParamRole } from "./capabilities.ts";
import { createFileReader, FileError, type FileProblem, type SchemaChecker } from "./file.ts";
import { isRefusedBesideCredential, RESERVED_HEADERS } from "./headers.ts";
import schema from "./schema.json" with { type: "json" };
import { refuseVariable } from "./variables.ts";

/** Thrown by the parser; the message lists all problems. */
export class CapabilitiesError extends FileError {
  constructor(problems: readonly FileProblem[]) {
    super("The capabilities file", problems);
    this.name = "CapabilitiesError";
  }
}

/** Parses a capabilities file, given as text or as parsed JSON. Throws a `CapabilitiesError`. */
export type CapabilitiesParser = (source: unknown) => Capabilities;

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
  return (source) => toCapabilities(read(source));
}

/** The file's JSON once the schema has accepted it. */
interface CapabilitiesFile {
  version: string;
  wit_version: string;
  http?: {
    allowlist?: { host: string; path_prefix: string; methods: string[] }[];
    rate_limit?: { requests_per_minute?: number; requests_per_hour?: number };
    timeout_secs?: number;
    credentials?: Record<string, { secret_name: string; location: LocationInFile; host_patterns: string[] }>;
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
}

type LocationInFile =
  | { type: "bearer" }
  | { type: "basic"; username: string }
  | { type: "header"; name: string; prefix?: string }
  | { type: "query_param"; name: string }
  | { type: "url_path"; placeholder: string };

/** Checks that the schema cannot express. */
function contradictions(file: CapabilitiesFile): FileProblem[] {
  const problems: FileProblem[] = [];
  const variable = file.auth?.env_var;
  const refusal = variable === undefined ? undefined : refuseVariable(variable);
  if (refusal !== undefined)
    problems.push({ path: "auth.env_var", problem: `${refusal}, given "${variable}"` });
  const oauth = file.auth?.oauth;
  if (oauth !== undefined && oauth.client_id === undefined && oauth.client_id_secret === undefined) {
    problems.push({
      path: "auth.oauth.client_id",
      problem:
        "is missing: give the client ID, or client_id_secret with the name of the secret that holds it",
    });
  }
  for (const [name, { location }] of Object.entries(file.http?.credentials ?? {})) {
    if (location.type !== "header") continue;
    const header = location.name.toLowerCase();
    if (!RESERVED_HEADERS.has(header) && !isRefusedBesideCredential(header)) continue;
    problems.push({
      path: `http.credentials.${name}.location.name`,
      problem: `must be a header that does not control the connection, given "${location.name}"`,
    });
  }
  return problems;
}

function toCapabilities(file: CapabilitiesFile): Capabilities {
  const { http, limits, auth } = file;
  const perMinute = http?.rate_limit?.requests_per_minute ?? DEFAULT_PER_MINUTE;
  return {
    version: file.version,
    witVersion: file.wit_version,
    http: http && {
      allowlist: (http.allowlist ?? []).map((rule) => ({
        host: rule.host.toLowerCase(),
        pathPrefix: rule.path_prefix,
        methods: rule.methods,
      })),
      rateLimit: {
        perMinute,
        perHour: http.rate_limit?.requests_per_hour ?? Math.max(DEFAULT_PER_HOUR, perMinute),
      },
      timeoutSecs: http.timeout_secs ?? 30,
      credentials: Object.entries(http.credentials ?? {}).map(
        ([name, credential]): Credential => ({
          name,
          secretName: credential.secret_name,
          location: toLocation(credential.location),
          hostPatterns: credential.host_patterns.map((pattern) => pattern.toLowerCase()),
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
  };
}

const DEFAULT_PER_MINUTE = 60;
const DEFAULT_PER_HOUR = 500;

function toLocation(location: LocationInFile): CredentialLocation {
  switch (location.type) {
    case "header":
      return { type: "header", name: location.name, prefix: location.prefix ?? "" };
    case "url_path":
      return { type: "url_path", placeholder: `{${location.placeholder.replace(/^\{|\}$/g, "")}}` };
    default:
      return location;
  }
}
