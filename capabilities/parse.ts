/** Parses capabilities files. Pure; reports all problems at once. */
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { Capabilities, Credential, CredentialLocation } from "./capabilities.ts";
import { RESERVED_HEADERS } from "./headers.ts";
import schema from "./schema.json" with { type: "json" };

export interface CapabilitiesProblem {
  /** Where in the file, such as `http.allowlist[0].methods[1]`; empty for the whole file. */
  readonly path: string;
  /** What the file has there, shortened. */
  readonly given: string;
  readonly accepted: string;
}

/** Thrown by `parseCapabilities`; the message lists all problems. */
export class CapabilitiesError extends Error {
  readonly problems: readonly CapabilitiesProblem[];

  constructor(problems: readonly CapabilitiesProblem[]) {
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    const lines = problems.map(
      ({ path, given, accepted }) => `  ${path || "(the file)"}: got ${given}, expected ${accepted}`,
    );
    super(`The capabilities file has ${count}.\n${lines.join("\n")}`);
    this.name = "CapabilitiesError";
    this.problems = problems;
  }
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
  setup?: { required_secrets?: { name: string; prompt?: string }[] };
}

type LocationInFile =
  | { type: "bearer" }
  | { type: "basic"; username: string }
  | { type: "header"; name: string; prefix?: string }
  | { type: "query_param"; name: string }
  | { type: "url_path"; placeholder: string };

let compiled: ValidateFunction<CapabilitiesFile> | undefined;

/**
 * Compiled on first use, so that a start without tools does not pay for it. Checking our own schema and optimising
 * code that runs once per file took half the time, and the first answer after a start waits for it: a test checks
 * the schema instead.
 */
function validator(): ValidateFunction<CapabilitiesFile> {
  compiled ??= new Ajv2020({
    allErrors: true,
    verbose: true,
    discriminator: true,
    validateSchema: false,
    code: { optimize: false },
  }).compile<CapabilitiesFile>(schema);
  return compiled;
}

/**
 * Parses a capabilities file, given as text or as parsed JSON.
 * Throws a `CapabilitiesError` that lists every problem.
 */
export function parseCapabilities(source: unknown): Capabilities {
  const json = typeof source === "string" ? parseJson(source) : source;
  const validate = validator();
  if (!validate(json))
    throw new CapabilitiesError((validate.errors ?? []).map((error) => toProblem(error, json)));
  const problems = contradictions(json);
  if (problems.length > 0) throw new CapabilitiesError(problems);
  return toCapabilities(json);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const given = `text that is not JSON (${error instanceof Error ? error.message : String(error)})`;
    throw new CapabilitiesError([{ path: "", given, accepted: "a JSON object" }]);
  }
}

/** The parts of a schema that describe a problem. */
interface SchemaNode {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly oneOf?: readonly { readonly properties: { readonly type: { readonly const: string } } }[];
}

function toProblem(error: ErrorObject, json: unknown): CapabilitiesProblem {
  const path = writePath(error.instancePath, json);
  const below = (key: string) => (path === "" ? key : `${path}.${key}`);
  const schemaNode = error.parentSchema as SchemaNode;
  const params = error.params as { readonly missingProperty?: string; readonly additionalProperty?: string };
  if (params.missingProperty !== undefined) {
    const wanted = schemaNode.properties?.[params.missingProperty] ?? {};
    return { path: below(params.missingProperty), given: "nothing", accepted: describeNode(wanted) };
  }
  if (params.additionalProperty !== undefined) {
    const keys = Object.keys(schemaNode.properties ?? {}).filter((key) => key !== "$schema");
    return {
      path: below(params.additionalProperty),
      given: "an unknown key",
      accepted: `one of ${keys.join(", ")}`,
    };
  }
  if (error.keyword === "discriminator") {
    const types = (schemaNode.oneOf ?? []).map(({ properties }) => properties.type.const);
    const { type } = error.data as { readonly type?: unknown };
    return { path: below("type"), given: show(type), accepted: `one of ${types.join(", ")}` };
  }
  return { path, given: show(error.data), accepted: describeNode(schemaNode) };
}

function describeNode(node: SchemaNode): string {
  if (node.$ref !== undefined) {
    const name = node.$ref.slice("#/$defs/".length);
    return describeNode((schema.$defs as Readonly<Record<string, SchemaNode>>)[name] ?? {});
  }
  const about = node.description ?? node.type ?? "something else";
  if (node.enum !== undefined) return `${about}: one of ${node.enum.join(", ")}`;
  if (node.type === "integer") return `a whole number from ${node.minimum} to ${node.maximum} (${about})`;
  return about;
}

/** `/http/allowlist/0/host` → `http.allowlist[0].host`. */
function writePath(pointer: string, json: unknown): string {
  let here = json;
  let path = "";
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(here)) path += `[${key}]`;
    else path += path === "" ? key : `.${key}`;
    here = (here as Record<string, unknown> | undefined)?.[key];
  }
  return path;
}

function show(value: unknown): string {
  const text = value === undefined ? "nothing" : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

/** Checks that the schema cannot express. */
function contradictions(file: CapabilitiesFile): CapabilitiesProblem[] {
  const problems: CapabilitiesProblem[] = [];
  const oauth = file.auth?.oauth;
  if (oauth !== undefined && oauth.client_id === undefined && oauth.client_id_secret === undefined) {
    problems.push({
      path: "auth.oauth.client_id",
      given: "neither client_id nor client_id_secret",
      accepted: "the client ID, or client_id_secret with the name of the secret that holds it",
    });
  }
  for (const [name, { location }] of Object.entries(file.http?.credentials ?? {})) {
    if (location.type !== "header" || !RESERVED_HEADERS.has(location.name.toLowerCase())) continue;
    problems.push({
      path: `http.credentials.${name}.location.name`,
      given: show(location.name),
      accepted: "a header that does not control the connection",
    });
  }
  const { requests_per_minute: minute, requests_per_hour: hour } = file.http?.rate_limit ?? {};
  if (minute !== undefined && hour !== undefined && minute > hour) {
    problems.push({
      path: "http.rate_limit.requests_per_minute",
      given: show(minute),
      accepted: `at most requests_per_hour (${hour})`,
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
    requiredSecrets: (file.setup?.required_secrets ?? []).map(({ name, prompt }) => ({
      name,
      prompt: prompt ?? name,
    })),
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
