/** The app that an operator creates at Slack: what it may do, and the link that fills it in. */

/** Each is needed for something that the README lists. */
export const SCOPES: readonly string[] = [
  "app_mentions:read",
  "chat:write",
  "commands",
  "files:read",
  "files:write",
  "users:read",
  "im:history",
  "channels:history",
  "groups:history",
  "mpim:history",
];

const MANIFEST = {
  display_information: { name: "Postern", description: "Talks to your Postern" },
  features: {
    app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false },
    bot_user: { display_name: "postern", always_online: true },
    slash_commands: [
      { command: "/postern", description: "Commands of Postern", usage_hint: "new | threads | stop | help" },
    ],
  },
  oauth_config: { scopes: { bot: SCOPES } },
  settings: {
    event_subscriptions: { bot_events: ["app_mention", "message.im"] },
    interactivity: { is_enabled: true },
    socket_mode_enabled: true,
  },
};

export function createLink(): string {
  return `https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(JSON.stringify(MANIFEST))}`;
}
