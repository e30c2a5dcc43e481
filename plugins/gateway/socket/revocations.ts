/** That somebody was signed out, told to every node: each closes the sockets that stood on it. */
import type { Store } from "../../../kernel/plugin.ts";

const TOPIC = "gateway revoked";

/** Nobody is kept waiting by a database that is away: sockets are checked now and then anyway. */
export async function tellRevoked({ signals }: Pick<Store, "signals">): Promise<void> {
  await signals.send(TOPIC, "").catch(() => {});
}

/** Answers how to stop. Whoever tells looks at its own sockets by itself. */
export function followRevoked({ signals }: Pick<Store, "signals">, recheck: () => Promise<void>): () => void {
  const stops = [
    signals.listen(TOPIC, (_, isOwn) => {
      if (!isOwn) void recheck();
    }),
    signals.onLost(() => void recheck()),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
