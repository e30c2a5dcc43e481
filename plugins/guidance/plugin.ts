/** What the agent is told before each conversation: who it is, the operator's skills, the user's missions. */
import { definePlugin } from "../../kernel/plugin.ts";
import { identityPrompt } from "./identity.ts";
import { createMissions, MIGRATIONS } from "./missions.ts";
import { skillPrompt, skillTool } from "./skills.ts";

export default definePlugin({
  name: "guidance",
  needs: ["agent", "homeFiles", "skills", "store"],
  wants: ["memory"],
  extends: ["agent"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { homeFiles, skills, memory } = use;
    const missions = await createMissions(use.store);
    onStop(
      use.agent.extend({
        tools: [skillTool(skills), ...missions.tools],
        async preface(user, allows) {
          const [identity, mission, skill] = await Promise.all([
            identityPrompt(homeFiles, allows("memory_read") ? memory : undefined, user),
            allows("mission_list") ? missions.inForce(user) : undefined,
            allows("skill_load") ? skillPrompt(skills) : "",
          ]);
          return {
            sections: [
              { text: identity, isPersons: true },
              { text: mission?.prompt ?? "" },
              { text: skill, isPersons: true },
            ],
            requiredTools: mission?.requiredTools,
          };
        },
        giveUser: (tx, from, to) => missions.give(tx, from, to),
      }),
    );
  },
  operations: {
    tables: async () => [{ owner: "missions", migrations: MIGRATIONS, personal: ["missions"] }],
  },
});
