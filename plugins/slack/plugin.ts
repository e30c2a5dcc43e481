/** The Slack channel: direct messages, mentions and threads by socket mode, with answers that are sent once. */
import { definePlugin, type Finding, Off, reason } from "../../kernel/plugin.ts";
import { ASKED, guide, readSettings } from "./settings.ts";

const CHECK_TIMEOUT_MS = 10_000;

export default definePlugin({
  name: "slack",
  kind: "channel",
  needs: ["messaging"],
  extends: ["messaging"],
  configure(env) {
    const settings = readSettings(env);
    return env.flag("SLACK_ENABLED", true, "Offer the Slack channel")
      ? { settings }
      : new Off("SLACK_ENABLED=false");
  },
  async start({ use, log, onStop, announce }) {
    onStop(
      await use.messaging.offer(
        {
          name: "slack",
          title: "Slack",
          guide: guide(),
          settings: ASKED,
          read: readSettings,
          async create(settings, announce) {
            announce("connecting");
            return (await import("./slack.ts")).createSlack({ settings, log, announce });
          },
        },
        announce,
      ),
    );
  },
  operations: {
    live: readSettings,
    async diagnose({ config: { settings } }): Promise<readonly Finding[]> {
      if (settings instanceof Off) return [];
      const [{ createSlack }, { createLog }, { createMask }] = await Promise.all([
        import("./slack.ts"),
        import("../../kernel/kit/log.ts"),
        import("../../kernel/kit/secrets.ts"),
      ]);
      const log = createLog("error", createMask()).child("slack");
      const slack = createSlack({ settings, log, announce: () => {} });
      try {
        const { detail } = await slack.check(AbortSignal.timeout(CHECK_TIMEOUT_MS));
        return [{ name: "slack", ok: true, detail }];
      } catch (error) {
        return [{ name: "slack", ok: false, detail: reason(error) }];
      }
    },
  },
});
