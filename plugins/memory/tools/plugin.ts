/** The agent's tools for memory, whichever plugin provides it. */
import { definePlugin } from "../../../kernel/plugin.ts";
import { memoryTools } from "./tools.ts";

export default definePlugin({
  name: "memory-tools",
  needs: ["accounts", "agent", "memory", "homeFiles"],
  extends: ["agent", "accounts"],
  configure: () => ({}),
  start({ use: { accounts, agent, memory, homeFiles }, onStop }) {
    onStop(
      agent.extend({
        tools: memoryTools(memory, new Set(homeFiles.identity.map(({ name }) => name))),
      }),
    );
    onStop(
      accounts.follow({
        remove: async (user) => memory.removeUser?.(user),
        give: async (tx, from, to) => memory.giveUser?.(tx, from, to),
      }),
    );
  },
});
