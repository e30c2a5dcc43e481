/** Tells every node that a credential ended, so that each closes the sockets that were opened with it. */
import type { Store } from "../../store/services.ts";

const TOPIC = "gateway revoked";

/** A failure is ignored: sockets are rechecked every half minute anyway. */
export async function tellRevoked({ signals }: Pick<Store, "signals">): Promise<void> {
  await signals.send(TOPIC, "").catch(() => {});
}

/** Returns a function that unsubscribes. The node that tells checks its own sockets itself. */
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
