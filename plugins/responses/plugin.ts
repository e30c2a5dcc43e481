/** The Responses API: the whole agent behind a wire format that programs already speak. Mounted on the gateway. */
import { definePlugin, Off } from "../../kernel/plugin.ts";

export default definePlugin({
  name: "responses",
  kind: "channel",
  needs: ["web", "agent", "threads", "store", "chatLimit", "kernel"],
  wants: ["externalTools"],
  tables: async () => [{ owner: "responses", migrations: (await import("./intake/requests.ts")).MIGRATIONS }],
  configure(env) {
    const isOn = env.flag("RESPONSES_ENABLED", true, "The Responses API on the gateway");
    const config = {
      timeoutSecs: env.integer(
        "RESPONSES_TURN_TIMEOUT_SECS",
        120,
        { min: 1, max: 3600 },
        "Time limit of a turn that does not stream",
      ),
      replay: env.flag(
        "RESPONSES_STATELESS_REPLAY",
        true,
        "Accept input that replays a whole tool loop as the history of a new thread",
      ),
    };
    return isOn ? config : new Off("RESPONSES_ENABLED is false");
  },
  async start({ config, use, log, onStop, announce }) {
    // Read when it starts: whoever starts before it does not wait for the rules of the format.
    const [
      { createAnswers },
      { createIntake },
      { createRequests },
      { mountRooms },
      { mountRoutes },
      { startSweep },
    ] = await Promise.all([
      import("./answer/answer.ts"),
      import("./intake/intake.ts"),
      import("./intake/requests.ts"),
      import("./rooms.ts"),
      import("./routes.ts"),
      import("./intake/sweep.ts"),
    ]);
    const { web, agent, threads, store, chatLimit, kernel, externalTools } = use;
    const pageOf = (thread: string) => `${web.url}/#/chat/${thread}`;
    const { requests, sql } = await createRequests(store);
    onStop(startSweep({ store, requests, threads, log }));
    const { replay, timeoutSecs } = config;
    mountRoutes({
      web,
      agent,
      threads,
      requests,
      chatLimit,
      externalTools,
      intake: createIntake({ agent, threads, requests, sql, pageOf, replay }),
      answers: createAnswers({ agent, threads, requests, log, pageOf, timeoutSecs }),
      startedAt: kernel.startedAt,
      log,
    });
    mountRooms({ web, agent, startedAt: kernel.startedAt, log });
    announce(`${web.url}/api/v1/responses`);
  },
});
