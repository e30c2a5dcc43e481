/** Environment variables that no tool gets as its credential, whatever its file says. */

/** Our own settings, which hold the keys of the service itself. A test compares this with the existing settings. */
const OUR_PREFIXES =
  "POSTERN SERVICE GATEWAY HTTP OIDC MODEL STORE TOOLS TOOL RESPONSES JOBS ROUTINES TASKS TURN MCP OTEL BACKUP THREADS RECEIPTS WORKSPACE MESSAGING SLACK TELEGRAM EMAIL".split(
    " ",
  );
const OURS = new Set(
  `PLUGINS PROVENANCE TRUSTED_SOURCES COSIGN_PASSWORD LOG_LEVEL ANTHROPIC_API_KEY OPENAI_API_KEY ATTACHMENTS_MAX_MB CHAT_RATE_LIMIT CHAT_TITLES CLI_ENABLED DAILY_USD_CAP TRACE_TOOL_HOSTS
   MEMORY_VECTORS STOP_GRACE_SECS TRUSTED_PROXIES USER_STORAGE_MB`.split(/\s+/),
);

/** These give access to a whole account, or control how programs start: far more than one tool should get. */
const CLOUD_PREFIXES =
  `AWS AZURE ARM GCP GCLOUD CLOUDSDK ALICLOUD ALIBABA OCI IBMCLOUD DIGITALOCEAN CLOUDFLARE HCLOUD LINODE SCW HEROKU FLY
   VERCEL NETLIFY RAILWAY KUBE VAULT CONSUL NOMAD DOCKER NPM NODE SSH GPG PG LD DYLD`.split(/\s+/);
const CLOUDS = new Set(
  `GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CREDENTIALS GOOGLE_OAUTH_ACCESS_TOKEN KUBECONFIG DATABASE_URL REDIS_URL
   MONGODB_URI MYSQL_PWD MYSQL_ROOT_PASSWORD POSTGRES_PASSWORD PGPASSWORD PATH HOME USER SHELL`.split(/\s+/),
);

/** Says what is wrong with the name; undefined if a tool may have it. */
export function refuseVariable(name: string): string | undefined {
  // On some systems names are case-insensitive.
  const upper = name.toUpperCase();
  const [prefix = ""] = upper.split("_", 1);
  const has = (prefixes: readonly string[]) => upper.includes("_") && prefixes.includes(prefix);
  if (OURS.has(upper) || has(OUR_PREFIXES)) return "must not be one of Postern's settings";
  if (CLOUDS.has(upper) || has(CLOUD_PREFIXES))
    return "must not be a credential of a cloud, a database or a developer's tools";
  return undefined;
}
