/** What the webhook channel runs with, in a test's own process or in one that the test kills. */

import type { AnyPlugin } from "../../../kernel/plugin.ts";
import type { Variables } from "../../../kernel/settings/env.ts";
import store from "../../../plugins/store/plugin.ts";
import telemetry from "../../../plugins/telemetry/plugin.ts";
import webhook from "../../../plugins/webhook/plugin.ts";
import { agentPlugins } from "./agent-plugins.ts";

export const SECRET = "a secret that only the tests know";

export const webhookPlugins = [store, telemetry, ...agentPlugins, webhook] as readonly AnyPlugin[];

export const WEBHOOK_SETTINGS: Variables = {
  HTTP_ENABLED: "true",
  HTTP_HOST: "127.0.0.1",
  HTTP_PORT: "0",
  HTTP_WEBHOOK_SECRET: SECRET,
  HTTP_RATE_LIMIT: "1000000",
  MODEL_PROVIDER: "builtin",
};
