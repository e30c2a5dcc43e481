/** The webhook channel: external systems post a message, get a job, and poll it or are called back. */

import {
  createProxies,
  examinePort,
  examineSecret,
  hostAndPort,
  listen,
  parsePrivateHosts,
  readTrustedProxies,
  showWeaknesses,
} from "../../kernel/kit.ts";
import { definePlugin, type Env, type Finding, Off, type Store } from "../../kernel/plugin.ts";
import type { CallbackOptions, Callbacks } from "./callbacks/callbacks.ts";
import type { CallbackTarget } from "./callbacks/target.ts";
import { MIGRATIONS } from "./tables.ts";

const SECRET = "HTTP_WEBHOOK_SECRET";

// An answer held back by "Prefer: wait" is released at once when we stop; this is for bytes on the wire.
// The kernel gives the whole service ten seconds to stop.
const GRACE_MILLIS = 3000;
const REQUEST_MILLIS = 30_000;

function readRate(env: Env): number {
  return env.integer(
    "HTTP_RATE_LIMIT",
    60,
    { min: 1, max: 1_000_000 },
    "Webhook requests per minute and address",
  );
}

export default definePlugin({
  name: "webhook",
  kind: "channel",
  needs: ["jobs", "store", "settings", "kernel", "identities", "accounts"],
  wants: ["routines"],
  provides: ["integrations"],
  commands: [
    {
      name: "webhook",
      about: "manage who may post to the webhook channel, and show the key of its callbacks",
      example: "postern webhook add ci --user ann",
      load: async () => (await import("./commands.ts")).register,
    },
  ],
  tables: async () => [{ owner: "webhook", migrations: MIGRATIONS }],
  configure(env) {
    const enabled = env.flag("HTTP_ENABLED", false, "Enable the webhook channel");
    const host = env.text("HTTP_HOST", "0.0.0.0", "Host the webhook channel listens on");
    const port = env.port("HTTP_PORT", 8080, "The webhook channel's port");
    const secret = env.secret(
      "HTTP_WEBHOOK_SECRET",
      "Shared secret that callers send in X-Webhook-Secret or sign with",
    );
    const rate = readRate(env);
    const pairing = env.oneOf(
      "HTTP_PAIRING",
      ["optional", "required"],
      "optional",
      "Whether the webhook's users talk before an operator has paired them with an account",
    );
    const proxies = readTrustedProxies(env);
    const callback = readCallback(
      env.url("HTTP_CALLBACK_URL", undefined, "Where completed webhook jobs are posted, signed"),
      env.list("HTTP_CALLBACK_PRIVATE_HOSTS", "Private or plain http host:port,… that callbacks may reach"),
      env.refuse,
    );
    return enabled
      ? { host, port, secret, rate, pairing, proxies, callback }
      : new Off("HTTP_ENABLED is not true");
  },

  live: readRate,

  async start({ config, use, log, onStop, announce }) {
    const [
      { createApp },
      { createIntegrations },
      { createSenders },
      { createUserLookup },
      { withoutSecret },
    ] = await Promise.all([
      import("./app.ts"),
      import("./integrations/integrations.ts"),
      import("./integrations/senders.ts"),
      import("./user-lookup.ts"),
      import("./diagnosis.ts"),
    ]);
    const { secret, callback } = config;
    const sql = await use.store.tables("webhook", MIGRATIONS);
    const callbacks =
      callback && (await openCallbacks({ ...use, node: use.store.node, sql, log, target: callback }));
    if (callbacks) onStop(() => callbacks.stop());
    if (callbacks && use.routines)
      onStop(use.routines.deliverBy("callback", (tx, { job, user }) => callbacks.owe(tx, job, user)));

    const { mask } = use.kernel;
    const integrations = createIntegrations({ ...use, sql, onSecret: (secret) => mask.add(secret) });
    // Known before the first request, so that no log shows one.
    const senders = await integrations.senders();
    await Promise.all(senders.map(({ id }) => integrations.secretsOf(id)));

    const rate = await use.settings.live("webhook", readRate);
    // Anybody can make it count, and one machine forgets it at a restart.
    const limiter = use.store.limiter({
      name: "webhook",
      windows: async () => [{ limit: await rate.current(), seconds: 60 }],
      isKept: false,
    });
    onStop(() => limiter.close());
    const stopping = new AbortController();
    const app = createApp({
      jobs: use.jobs,
      userOf: createUserLookup({ ...use, isRequired: config.pairing === "required" }),
      submit: (job, userId) =>
        callbacks ? sql.transaction((tx) => callbacks.submit(tx, job, userId)) : use.jobs.submit(job),
      limiter,
      proxies: createProxies(config.proxies),
      senders: createSenders(secret, integrations),
      log,
      stopping: stopping.signal,
    });
    const listener = await listen(app.callback(), {
      host: config.host,
      port: config.port,
      hostVariable: "HTTP_HOST",
      portVariable: "HTTP_PORT",
    });
    // Sixty-four kilobytes take no longer; who sends slower only means to hold a connection.
    listener.server.requestTimeout = REQUEST_MILLIS;
    onStop(() => {
      stopping.abort();
      return listener.close(GRACE_MILLIS);
    });
    const note =
      secret === undefined
        ? ` (${withoutSecret(SECRET, senders.length)})`
        : showWeaknesses({ [SECRET]: secret });
    announce(listener.url + note);
    return { integrations };
  },

  async diagnose({ config, running, stored }): Promise<readonly Finding[]> {
    const { host, port } = config;
    const { examineCallback, examineNoSecret } = await import("./diagnosis.ts");
    const secret: Finding = config.secret
      ? examineSecret("webhook secret", SECRET, config.secret)
      : await examineNoSecret(SECRET, stored);
    const callback = config.callback ? [await examineCallback(config.callback)] : [];
    const opened = { name: "webhook port", host, port, variables: "HTTP_PORT or HTTP_HOST", running };
    return [await examinePort(opened), secret, ...callback];
  },
});

async function openCallbacks(
  parts: Omit<CallbackOptions, "sign"> & { readonly store: Store },
): Promise<Callbacks> {
  const [{ createCallbacks }, { callbackSecrets }, { Webhook }] = await Promise.all([
    import("./callbacks/callbacks.ts"),
    import("./keys.ts"),
    import("standardwebhooks"),
  ]);
  // With each key, so that a receiver may take up the new one when it suits them. Asked for each time: a command may change them.
  const sign: CallbackOptions["sign"] = async (...message) =>
    (await callbackSecrets(parts.store)).map((secret) => new Webhook(secret).sign(...message)).join(" ");
  return await createCallbacks({ ...parts, sign });
}

function readCallback(
  given: string | undefined,
  privateHosts: readonly string[],
  refuse: (name: string, accepted: string) => void,
): CallbackTarget | undefined {
  const listed = parsePrivateHosts(privateHosts);
  if (listed === undefined) refuse("HTTP_CALLBACK_PRIVATE_HOSTS", "host:port, several separated by commas");
  if (given === undefined) return undefined;
  const target = { url: new URL(given), privateHosts: listed ?? new Set<string>() };
  if (target.url.username || target.url.password)
    refuse("HTTP_CALLBACK_URL", "a URL without user and password");
  if (target.url.protocol !== "https:" && !target.privateHosts.has(hostAndPort(target.url)))
    refuse("HTTP_CALLBACK_URL", "an https URL, or one whose host:port is in HTTP_CALLBACK_PRIVATE_HOSTS");
  return target;
}
