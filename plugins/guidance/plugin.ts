/** Guides the agent before each conversation: who it is, the operator's skills, the user's missions. */
import { definePlugin } from "../../kernel/plugin.ts";
import { identitySections } from "./identity.ts";
import { createMissions, MIGRATIONS } from "./missions.ts";
import { skillSections, skillTools } from "./skills.ts";

export default definePlugin({
  name: "guidance",
  needs: ["accounts", "agent", "homeFiles", "skills", "store"],
  wants: ["memory", "workspace"],
  extends: ["agent", "accounts"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { homeFiles, skills, memory } = use;
    const missions = await createMissions(use.store);
    onStop(use.accounts.follow({ give: missions.give }));
    onStop(
      use.agent.extend({
        tools: [...skillTools(skills, use.workspace), ...missions.tools],
        async preface(user, allows) {
          const [identity, mission, taught] = await Promise.all([
            identitySections(homeFiles, allows("memory_read") ? memory : undefined, user),
            allows("mission_list") ? missions.inForce(user) : undefined,
            allows("skill_load") ? skillSections(skills) : [],
          ]);
          return {
            sections: [...identity, { text: mission?.prompt ?? "", topic: "missions" }, ...taught],
            requiredTools: mission?.requiredTools,
          };
        },
      }),
    );
  },
  operations: {
    tables: async () => [{ owner: "missions", migrations: MIGRATIONS, personal: ["missions"] }],
  },
});
