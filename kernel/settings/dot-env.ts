/** `.env` files: the home's, and that of the folder the service starts in. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { Fault, reason } from "../fault.ts";
import type { Variables } from "./env.ts";

/**
 * Only the operator sets these, not the folder somebody happens to be in. They run code or say where it comes from, say where things are
 * kept and where keys and texts are sent, let somebody in, and allow what is asked about or refused otherwise.
 */
const OPERATORS_OWN = `
  PLUGINS POSTERN_NODE MCP_INDEX TOOLS_INDEX NPM_CONFIG_REGISTRY XDG_CACHE_HOME DOCKER_CONFIG
  POSTERN_HOME POSTERN_SECRETS_KEY STORE_URL STORE_TLS BACKUP_FOLDER
  MODEL_BASE_URL MODEL_FALLBACK_BASE_URL TELEGRAM_API_URL SLACK_API_URL EMAIL_IMAP_URL EMAIL_SMTP_URL HTTP_CALLBACK_URL
  OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_EXPORTER_OTLP_HEADERS
  OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT
  GATEWAY_AUTH_TOKEN SERVICE_REBORN_WEBUI_TOKEN GATEWAY_HOST GATEWAY_ALLOWED_ORIGINS TRUSTED_PROXIES
  OIDC_ISSUER OIDC_AUDIENCE OIDC_ALLOWED_DOMAINS OIDC_TRUST_EMAIL MCP_URL
  HTTP_HOST HTTP_WEBHOOK_SECRET HTTP_PAIRING TELEGRAM_BOT_TOKEN TELEGRAM_WEBHOOK_HOST TELEGRAM_WEBHOOK_URL SLACK_APP_TOKEN SLACK_BOT_TOKEN EMAIL_AUTHSERV_ID
  TOOL_APPROVALS PROVENANCE TRUSTED_SOURCES TOOLS_PRIVATE_HOSTS HTTP_CALLBACK_PRIVATE_HOSTS
`
  .trim()
  .split(/\s+/);

const NOWHERE = new Set(["ENOENT", "ENOTDIR"]);

/** Reads `.env` of a folder; the real environment wins over it. */
export function readDotEnv(folder: string): Variables {
  const file = join(folder, ".env");
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (error) {
    if (NOWHERE.has((error as NodeJS.ErrnoException).code ?? "")) return {};
    throw new Fault("config", "env_file_unreadable", `${file} cannot be read: ${reason(error)}`, {
      param: file,
    });
  }
}

/** Reads `.env` of a folder that may be anybody's, without what only the operator may set. */
export function readForeignDotEnv(folder: string): {
  readonly variables: Variables;
  readonly ignored: readonly string[];
} {
  const variables = { ...readDotEnv(folder) };
  const ignored = OPERATORS_OWN.filter((name) => variables[name]?.trim());
  for (const name of ignored) delete variables[name];
  return { variables, ignored };
}
