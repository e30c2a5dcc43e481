/** What chat channels share: the inbox, turns, gates, the outbox, and who somebody is. Channels such as Telegram register with it. */
import { SILENT } from "../../kernel/kit/log.ts";
import { definePlugin } from "../../kernel/plugin.ts";
import { readSettings } from "./settings.ts";
import { DEAD_LETTERS, MIGRATIONS, OLD_MESSAGES, PERSONAL } from "./tables.ts";

const SWEEP_MS = 3_600_000;

export default definePlugin({
  name: "messaging",
  needs: [
    ...(["agent", "jobs", "threads", "approvals", "attachments"] as const),
    ...(["store", "settings", "accounts", "identities", "kernel"] as const),
  ],
  wants: ["telemetry", "workspace", "tasks"],
  provides: ["messaging"],
  extends: ["accounts"],
  configure: readSettings,
  async start({ config, use, log, onStop, check }) {
    const { createMessaging } = await import("./messaging.ts");
    const { store, accounts, kernel, telemetry = SILENT } = use;
    const sql = await store.tables("messaging", MIGRATIONS);
    const messaging = createMessaging({ ...use, config, sql, telemetry, log, isServing: kernel.serving });
    onStop(messaging.close);
    onStop(accounts.follow({ give: messaging.give }));
    if (kernel.serving) {
      const stopping = new AbortController();
      onStop(() => stopping.abort());
      onStop(
        store.repeat("sweep messages", SWEEP_MS, () =>
          messaging
            .sweep(stopping.signal)
            .catch((error: unknown) => log.warn({ error }, "old chat messages could not be deleted")),
        ),
      );
      // A service that is away is no reason to take this node out of use.
      check("channels", messaging.describe);
    }
    return { messaging };
  },
  operations: {
    commands: [
      {
        name: "channel",
        group: "People",
        about: "set chat channels up, see how they are doing, and let people in",
        example: "postern channel add telegram",
        everyPlugin: true,
        load: async () => (await import("./commands/channel.ts")).register,
      },
      {
        name: "messages",
        group: "People",
        about: "list chat messages that wait or could not be sent; send them again or drop them",
        example: "postern messages list",
        load: async () => (await import("./commands/messages.ts")).register,
      },
    ],
    tables: async () => [
      { owner: "messaging", migrations: MIGRATIONS, ages: [OLD_MESSAGES, DEAD_LETTERS], personal: PERSONAL },
    ],
    diagnose: async ({ stored }) => (await import("./diagnosis.ts")).examineMessages(stored),
  },
});
