/** The Responses API: the whole agent behind a wire format that programs already speak. Mounted on the gateway. */
import { definePlugin, Off } from "../../kernel/plugin.ts";

const megabytes = (count: number): number => count * 1024 * 1024;

export default definePlugin({
  name: "responses",
  kind: "channel",
  needs: ["web", "agent", "jobs", "threads", "memory", "store", "kernel"],
  wants: ["toolCalls"],
  tables: async () => (await import("./owned-tables.ts")).TABLES,
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
      fileBytes: megabytes(
        env.integer(
          "RESPONSES_FILE_MB",
          20,
          { min: 1, max: 100 },
          "How large an uploaded file may be, in MiB",
        ),
      ),
      filesBytes: megabytes(
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
    // Read when it starts: whoever starts before it does not wait for the rules of the format.
    const [
      { createAnswers },
      { createPlaces },
      { createRemoteFiles },
      { createIntake },
      { parseOpen },
      { createRequests },
      { createStoredFiles },
      { createStoredConversations },
      { createGoingOn },
      { mountResources },
      { mountRoutes },
      { createSeals },
      { startSweep },
      { startExpiry },
    ] = await Promise.all([
      import("./answer/answer.ts"),
      import("./answer/place.ts"),
      import("./intake/attachments/remote.ts"),
      import("./intake/intake.ts"),
      import("./intake/open/open.ts"),
      import("./intake/requests.ts"),
      import("./resources/files/stored-files.ts"),
      import("./resources/conversations/stored-conversations.ts"),
      import("./resources/conversations/going-on.ts"),
      import("./resources/resources.ts"),
      import("./routes.ts"),
      import("./seal.ts"),
      import("./intake/stored/sweep.ts"),
      import("./resources/files/expiry.ts"),
    ]);
    const { web, agent, jobs, threads, memory, store, kernel, toolCalls: externalTools } = use;
    const { chatLimit } = agent;
    const pageOf = (thread: string) => `${web.url}/#/chat/${thread}`;
    const { requests, sql } = await createRequests(store);
    const places = createPlaces({ agent, jobs, threads, requests });
    onStop(startSweep({ store, requests, places, threads, log }));
    const { replay, timeoutSecs, fileBytes, filesBytes } = config;
    const files = await createStoredFiles(store, { totalBytes: filesBytes });
    onStop(startExpiry(store, files, log));
    const { seal, unseal } = await createSeals(store);
    const remote = createRemoteFiles({ privateHosts: new Set() });
    onStop(remote.close);
    const attachments = { remote, resolveFile: files.resolveFile };
    const reading = { agent, jobs, sql, threads, requests, places, pageOf, attachments, unseal };
    const intake = createIntake({ ...reading, replay });
    // A chat is always replayed: there is no other way to go on with it.
    const chatIntake = createIntake({ ...reading, replay: true });
    const answers = createAnswers({ agent, threads, requests, places, log, pageOf, timeoutSecs, seal });
    const conversations = await createStoredConversations(store, threads);
    const goingOn = createGoingOn({ threads, conversations });
    const { startedAt } = kernel;
    const taking = { web, chatLimit, externalTools, intake, goingOn, answers, log };
    mountRoutes({ ...taking, agent, threads, requests, places, startedAt });
    mountResources({
      ...taking,
      agent,
      threads,
      requests,
      pageOf,
      startedAt,
      files,
      fileBytes,
      conversations,
      memory,
      seal,
      unseal,
      intake: chatIntake,
      read: (body) => parseOpen(body, externalTools !== undefined),
      take: (user, request, place) => intake.take(user, request, undefined, place),
    });
    announce(`${web.url}/api/v1/responses`);
  },
});
