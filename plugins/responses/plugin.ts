/** The Responses API: the whole agent behind a wire format that programs already speak. Mounted on the gateway. */
import { definePlugin, Off } from "../../kernel/plugin.ts";

const megabytes = (count: number): number => count * 1024 * 1024;

export default definePlugin({
  name: "responses",
  kind: "channel",
  needs: ["web", "agent", "attachments", "jobs", "threads", "memory", "store", "storage", "kernel"],
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
    // Loaded here, so that plugins that start before this one do not wait for it.
    const { mountAll } = await import("./endpoints/mount.ts");
    await mountAll({ config, use, log, onStop });
    announce(`${use.web.url}/api/v1/responses`);
  },
  operations: {
    async tables() {
      const [requests, files, conversations] = await Promise.all([
        import("./stored/requests.ts"),
        import("./stored/files.ts"),
        import("./stored/conversations.ts"),
      ]);
      return [
        {
          owner: requests.OWNER,
          migrations: requests.MIGRATIONS,
          personal: ["responses", "response_texts"],
          keeps: requests.KEEPS,
        },
        {
          owner: files.OWNER,
          migrations: files.MIGRATIONS,
          personal: ["response_files"],
          keeps: files.KEEPS,
        },
        {
          owner: conversations.OWNER,
          migrations: conversations.MIGRATIONS,
          personal: ["response_conversations"],
          keeps: conversations.KEEPS,
        },
      ];
    },
  },
});
