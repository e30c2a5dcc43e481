/** Parses the files of MCP servers. Pure; reports all problems at once. */
import { createFileReader, FileError, type FileProblem, type SchemaChecker, toRateLimit } from "../file.ts";
import { cannotHoldCredential } from "../headers.ts";
import schema from "./schema.json" with { type: "json" };
import type { ServerCredential, ServerFile, ServerTarget } from "./server-file.ts";

/** Thrown by the parser; the message lists all problems. */
export class ServerFileError extends FileError {
  constructor(problems: readonly FileProblem[]) {
    super("The server's file", problems);
    this.name = "ServerFileError";
  }
}

export function createServerFileParser(
  compile: SchemaChecker,
  show: (text: string) => string,
): (source: unknown) => ServerFile {
  const read = createFileReader<FileInJson>({
    schema,
    compile,
    show,
    contradictions,
    refuse: (problems) => new ServerFileError(problems),
  });
  return (source) => toServerFile(read(source));
}

/** The file's JSON once the schema has accepted it. */
interface FileInJson {
  url?: string;
  private_host?: boolean;
  command?: string[];
  env?: string[];
  credential?: {
    secret_name?: string;
    per_user?: boolean;
    location?: { type: "bearer" } | { type: "header"; name: string; prefix?: string };
    oauth?: { client_id?: string; client_secret_secret?: string; scopes?: string[] };
  };
  tools?: { allow?: string[]; without_asking?: string[] };
  rate_limit?: Parameters<typeof toRateLimit>[0];
  limits?: { timeout_secs?: number; answer_mb?: number };
}

function contradictions({ url, private_host, command, env, credential, tools }: FileInJson): FileProblem[] {
  const problems: FileProblem[] = [];
  const add = (path: string, problem: string) => problems.push({ path, problem });
  if ((url === undefined) === (command === undefined))
    add("", url === undefined ? "must have a url or a command" : "must have a url or a command, not both");
  if (command?.[0] === "") add("command[0]", "must name the command");
  if (url !== undefined && !URL.canParse(url)) add("url", `must be a URL, given "${url}"`);
  if (url !== undefined && env !== undefined) add("env", "is for a command; a server with a url gets none");
  if (command !== undefined && private_host !== undefined) add("private_host", "is for a url");
  if (command !== undefined && credential !== undefined)
    add("credential", "is for a url; a command gets its secrets as environment variables (env)");
  const location = credential?.location;
  if (location?.type === "header") {
    const header = location.name.toLowerCase();
    if (cannotHoldCredential(header) || isProtocols(header))
      add(
        "credential.location.name",
        `must be a header that does not control the connection, given "${location.name}"`,
      );
  }
  const { allow, without_asking: free = [] } = tools ?? {};
  for (const [at, tool] of free.entries())
    if (allow !== undefined && !allow.includes(tool))
      add(`tools.without_asking[${at}]`, `must be one of the allowed tools, given "${tool}"`);
  return problems;
}

/** The protocol's own headers. */
function isProtocols(header: string): boolean {
  return header.startsWith("mcp-") || ["accept", "content-type", "last-event-id"].includes(header);
}

const DEFAULT_SECRET = "token";

function toServerFile(file: FileInJson): ServerFile {
  const { tools, limits } = file;
  return {
    target: toTarget(file),
    allow: tools?.allow,
    withoutAsking: tools?.without_asking,
    rateLimit: toRateLimit(file.rate_limit),
    limits: { timeoutSecs: limits?.timeout_secs ?? 60, answerBytes: (limits?.answer_mb ?? 4) * 2 ** 20 },
  };
}

function toTarget({
  url,
  private_host: isPrivate = false,
  command = [],
  env = [],
  credential,
}: FileInJson): ServerTarget {
  return url === undefined
    ? { type: "command", command, env }
    : { type: "http", url, isPrivate, credential: toCredential(credential) };
}

function toCredential(credential: FileInJson["credential"]): ServerCredential {
  const { secret_name: secretName, per_user: perUser = false, location, oauth } = credential ?? {};
  return {
    secretName: secretName ?? DEFAULT_SECRET,
    isNamed: credential !== undefined,
    perUser,
    location:
      location?.type === "header"
        ? { type: "header", name: location.name, prefix: location.prefix ?? "" }
        : { type: "bearer" },
    oauth: {
      clientId: oauth?.client_id,
      clientSecretSecret: oauth?.client_secret_secret,
      scopes: oauth?.scopes ?? [],
    },
  };
}
