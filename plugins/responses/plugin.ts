/** The Responses API: the whole agent behind a wire format that programs already speak. Mounted on the gateway. */
import { definePlugin, Off } from "../../kernel/plugin.ts";

const megabytes = (count: number): number => count * 1024 * 1024;

export default definePlugin({
  name: "responses",
  kind: "channel",
  needs: ["web", "agent", "jobs", "threads", "memory", "store", "kernel"],
  wants: ["toolCalls"],
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
      maxFileBytes: megabytes(
        env.integer(
          "RESPONSES_FILE_MB",
          20,
          { min: 1, max: 100 },
          "How large an uploaded file may be, in MiB",
        ),
      ),
      maxTotalBytes: megabytes(
        env.integer(
          "RESPONSES_FILES_MB",
          100,
          { min: 1, max: 100_000 },
          "How large the uploaded files of a user may be together, in MiB",
        ),
      ),
    };
    return isOn ? config : new Off("RESPONSES_ENABLED is false");
  },
  async start({ config, use, log, onStop, announce }) {
    // The modules are loaded here, so that plugins that start before this one do not wait for them.
    const [
      { createAnswers },
      { mountAll },
      { createJoinConversation },
      { createRemoteFiles },
      { createStoredConversations },
      { createStoredFiles, startExpiry },
      { createRequests },
      { createSeals },
      { startSweep },
      { createTurnLocations },
      { createIntake },
    ] = await Promise.all([
      import("./answer/answer.ts"),
      import("./endpoints/mount.ts"),
      import("./resolve/conversation.ts"),
      import("./resolve/remote-files.ts"),
      import("./stored/conversations.ts"),
      import("./stored/files.ts"),
      import("./stored/requests.ts"),
      import("./stored/seals.ts"),
      import("./stored/sweep.ts"),
      import("./stored/turn-location.ts"),
      import("./turn/intake.ts"),
    ]);
    const { web, agent, jobs, threads, memory, store, kernel, toolCalls: externalTools } = use;
    const { chatLimit } = agent;
    const { replay, timeoutSecs, maxFileBytes, maxTotalBytes } = config;
    const pageOf = (thread: string) => `${web.url}/#/chat/${thread}`;
    const { requests, sql } = await createRequests(store);
    const locations = createTurnLocations({ agent, jobs, threads, requests });
    onStop(startSweep({ store, requests, locations, threads, log }));
    const files = await createStoredFiles(store, maxTotalBytes);
    onStop(startExpiry(store, files, log));
    const remote = createRemoteFiles({ privateHosts: new Set() });
    onStop(remote.close);
    const seals = await createSeals(store);
    const conversations = await createStoredConversations(store, threads);
    const attachments = { remote, resolveFile: files.resolveFile };
    const parts = { agent, jobs, sql, threads, requests, locations, log, pageOf, attachments, ...seals };
    mountAll({
      ...{ web, log, chatLimit, agent, threads, memory, externalTools, requests, locations, pageOf },
      ...{ conversations, files, maxFileBytes, seals, startedAt: kernel.startedAt },
      intake: createIntake({ ...parts, replay }),
      chatIntake: createIntake({ ...parts, replay: true }),
      answers: createAnswers({ ...parts, timeoutSecs }),
      joinConversation: createJoinConversation(threads, conversations),
    });
    announce(`${web.url}/api/v1/responses`);
  },
  operations: {
    tables: async () => (await import("./owned-tables.ts")).TABLES,
  },
});
