/** The settings of messaging. */
import type { Env } from "../../kernel/plugin.ts";

export type MessagingSettings = ReturnType<typeof readSettings>;

export function readSettings(env: Env) {
  return {
    delivery: env.oneOf(
      "MESSAGING_DELIVERY",
      ["at-least-once", "at-most-once"],
      "at-least-once",
      "Whether a chat message whose sending ended in an unknown way is sent again, where the service cannot tell",
    ),
  };
}
