/** Deletes files whose time is over. */
import type { Log, Store } from "../../../kernel/plugin.ts";
import type { StoredFiles } from "./files.ts";

const ROUND_MILLIS = 10 * 60 * 1000;

/** Answers its own end. */
export function startExpiry(
  store: Pick<Store, "repeat">,
  files: Pick<StoredFiles, "removeExpired">,
  log: Log,
): () => Promise<void> {
  let underWay: Promise<void> = Promise.resolve();
  const stop = store.repeat("delete expired files", ROUND_MILLIS, () => {
    underWay = files
      .removeExpired()
      .catch((error: unknown) => log.warn({ error }, "expired files could not be deleted, retrying later"));
    return underWay;
  });
  return async () => {
    stop();
    await underWay;
  };
}
