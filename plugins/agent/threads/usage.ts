/** What was asked of the agent, and what it cost, counted from the stored turns. */
import type { Store } from "../../../kernel/plugin.ts";

import type { Threads } from "../services.ts";

export function createUsage(store: Pick<Store, "figures">): { readonly turns: Threads["usage"] } {
  const turns = store.figures({
    table: "turns",
    index: "turns_by_time",
    time: "created_at",
    number: "seq",
    counts: "millis IS NOT NULL",
    failed: "status = 'failed'",
    timed: "status IN ('completed', 'waiting')",
    inputTokens: "input_tokens",
    outputTokens: "output_tokens",
    usd: "usd",
    groups: { model: "provider || '/' || model", user: '"user"', channel: "channel" },
  });
  return { turns };
}
