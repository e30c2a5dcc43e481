/** The webhook channel: external systems post a message, get a job, and poll it or are called back. */

import { createProxies, listen } from "../../kernel/kit/http.ts";
import { examinePort, examineSecret, showWeaknesses } from "../../kernel/kit/operations.ts";
import { definePlugin, type Finding, Off } from "../../kernel/plugin.ts";
import { describeNoSecret, readRate, readSettings, SECRET } from "./settings.ts";
import { MIGRATIONS } from "./tables.ts";

// A response held back by "Prefer: wait" is released at once when we stop; this is for bytes on the wire.
// The kernel gives the whole service ten seconds to stop.
const STOP_TIMEOUT_MS = 3000;
// A sender that needs longer for 64 KB only means to hold a connection.
const REQUEST_TIMEOUT_MS = 30_000;

export default definePlugin({
  name: "webhook",
  kind: "channel",
  needs: ["jobs", "store", "settings", "kernel", "identities", "accounts"],
  wants: ["routines"],
  provides: ["integrations"],
  configure(env) {
    const isOn = env.flag("HTTP_ENABLED", false, "Enable the webhook channel");
    const config = readSettings(env);
    return isOn ? config : new Off("HTTP_ENABLED is not true");
  },
  async start({ config, use, log, onStop, announce }) {
    const [
      { createApp },
      { createCallbacks },
      { createIntegrations },
      { createSenders },
      { createUserLookup },
    ] = await Promise.all([
      import("./requests/app.ts"),
      import("./callbacks/callbacks.ts"),
      import("./integrations/integrations.ts"),
      import("./requests/senders.ts"),
      import("./requests/user-lookup.ts"),
    ]);
    const { host, port, secret, callback } = config;
    const { jobs, store, routines, kernel } = use;
    const sql = await store.tables("webhook", MIGRATIONS);
    const callbacks = callback && (await createCallbacks({ jobs, store, sql, log, target: callback }));
    if (callbacks) onStop(() => callbacks.stop());
    if (callbacks && routines)
      onStop(routines.deliverBy("callback", (tx, { job, user }) => callbacks.owe(tx, job, user)));

    const integrations = createIntegrations({ ...use, sql, onSecret: (known) => kernel.mask.add(known) });
    // The mask knows the secrets before the first request, so that no log shows one.
    const senders = await integrations.senders();
    await Promise.all(senders.map(({ id }) => integrations.secretsOf(id)));

    const rate = await use.settings.live("webhook", readRate);
    // Anybody can make it count, so on one machine it is not kept over a restart.
    const limiter = store.limiter({
      name: "webhook",
      windows: async () => [{ limit: await rate.current(), seconds: 60 }],
      isKept: false,
    });
    onStop(() => limiter.close());
    const stopping = new AbortController();
    const proxies = createProxies(config.proxies);
    const app = createApp({
      jobs,
      userOf: createUserLookup({ ...use, isRequired: config.pairing === "required" }),
      async submit(job, userId) {
        if (!callbacks) return await jobs.submit(job);
        await jobs.assertRoom(job);
        return await sql.transaction((tx) => callbacks.submit(tx, job, userId));
      },
      limiter,
      proxies,
      senders: createSenders(secret, integrations),
      log,
      stopping: stopping.signal,
    });
    const variables = { hostVariable: "HTTP_HOST", portVariable: "HTTP_PORT" };
    const listener = await listen(app.callback(), {
      ...{ host, port, ...variables },
      connections: { perAddress: config.connectionsPerAddress, proxies },
    });
    listener.server.requestTimeout = REQUEST_TIMEOUT_MS;
    onStop(() => {
      stopping.abort();
      return listener.close(STOP_TIMEOUT_MS);
    });
    const note = secret ? showWeaknesses({ [SECRET]: secret }) : ` (${describeNoSecret(senders.length)})`;
    announce(listener.url + note);
    return { integrations };
  },
  operations: {
    commands: [
      {
        name: "webhook",
        group: "Advanced",
        about: "manage who may post to the webhook channel, and show the key of its callbacks",
        example: "postern webhook add ci --user ann",
        load: async () => (await import("./commands.ts")).register,
      },
    ],
    tables: async () => [{ owner: "webhook", migrations: MIGRATIONS }],
    live: readRate,
    async diagnose({ config, running, stored }): Promise<readonly Finding[]> {
      const { host, port, secret, callback } = config;
      const { examineCallback, examineNoSecret } = await import("./diagnosis.ts");
      return [
        await examinePort({ name: "webhook port", host, port, variables: "HTTP_PORT or HTTP_HOST", running }),
        secret ? examineSecret("webhook secret", SECRET, secret) : await examineNoSecret(stored),
        ...(callback ? [await examineCallback(callback)] : []),
      ];
    },
  },
});
