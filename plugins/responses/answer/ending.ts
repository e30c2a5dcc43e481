/** The end of a turn that another node may be running. */
import type { Services, TurnRecord } from "../../../kernel/plugin.ts";

// The end is told by an event, which can be missed.
const LOOK_MILLIS = 1000;

/** Resolves when the turn of a request has ended, with nothing where there is none. */
export async function turnEnd(
  { agent, threads }: { readonly agent: Services["agent"]; readonly threads: Services["threads"] },
  { user, id }: { readonly user: string; readonly id: string },
): Promise<TurnRecord | undefined> {
  let look = () => {};
  // Before the first look, so that an end in between is not missed.
  const unwatch = agent.watch(
    user,
    (event, turn) => {
      if (turn.id === id && "record" in event) look();
    },
    () => look(),
  );
  try {
    for (;;) {
      const told = Promise.withResolvers<void>();
      look = told.resolve;
      const record = await threads.turn(user, id);
      if (record?.status !== "queued" && record?.status !== "running") return record;
      const timer = setTimeout(look, LOOK_MILLIS).unref();
      await told.promise;
      clearTimeout(timer);
    }
  } finally {
    unwatch();
  }
}
