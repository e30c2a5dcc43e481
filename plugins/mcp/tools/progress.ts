/** A turn to its end, its text told as it comes. */
import type { ServerContext } from "@modelcontextprotocol/server";
import type { RunningTurn, TurnRecord } from "../../../kernel/plugin.ts";

/** The messages of text together are the text; the others only show that something goes on. */
const TOLD = new Set(["text", "reasoning", "tool_started", "tool_finished", "notice"]);

/** The turn stops when the caller does not want it any more. */
export async function follow(turn: RunningTurn, { mcpReq }: ServerContext): Promise<TurnRecord> {
  const { signal } = mcpReq;
  const stop = () => turn.cancel();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  try {
    for await (const event of turn) {
      if (progressToken === undefined || signal.aborted || !TOLD.has(event.type)) continue;
      progress += 1;
      const said = event.type === "text" ? { message: event.delta } : {};
      const params = { progressToken, progress, ...said };
      // A client that is gone misses it; the turn does not wait for it.
      await mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
    }
    return await turn.record;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
