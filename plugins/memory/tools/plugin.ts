/** The agent's tools for memory, whichever plugin provides it. */
import { definePlugin } from "../../../kernel/plugin.ts";
import { memoryTools } from "./tools.ts";

export default definePlugin({
  name: "memory-tools",
  needs: ["agent", "memory", "homeFiles"],
  extends: ["agent"],
  configure: () => ({}),
  start({ use: { agent, memory, homeFiles }, onStop }) {
    onStop(
      agent.extend({
        tools: memoryTools(memory, new Set(homeFiles.identity.map(({ name }) => name))),
        removeUser: async (user) => memory.removeUser?.(user),
        giveUser: async (tx, from, to) => memory.giveUser?.(tx, from, to),
      }),
    );
  },
});
