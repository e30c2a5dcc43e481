/** The operator's files: who the agent is, skills and models. In the home, or in the database that nodes share. */
import { definePlugin } from "../../kernel/plugin.ts";
import type { AddedSkills } from "./services.ts";

export default definePlugin({
  name: "home",
  needs: ["store"],
  provides: ["homeFiles", "skills", "addedSkills"],
  configure: () => ({}),
  async start({ use, home, log, onStop }) {
    const { openOperatorFiles, homeFilesOf } = await import("./open.ts");
    const { createSkills } = await import("./skills/skills.ts");
    const { createAddedSkills, SKILL_TABLES } = await import("./skills/added.ts");
    const { files, close } = await openOperatorFiles(use.store, home, log);
    onStop(close);
    const rows = createAddedSkills(await use.store.tables("skills", SKILL_TABLES));
    const skills = createSkills(files, rows);
    const addedSkills: AddedSkills = {
      ...rows,
      put: (...given) => rows.put(...given).finally(skills.forget),
      remove: (name) => rows.remove(name).finally(skills.forget),
    };
    return { homeFiles: homeFilesOf(files), skills, addedSkills };
  },
  operations: {
    commands: [
      {
        name: "home",
        group: "Advanced",
        about: "copy identity files, skills and models between this home and the nodes' database",
        example: "postern home push",
        load: async () => (await import("./commands.ts")).register,
      },
      {
        name: "skill",
        group: "Tools",
        about: "add, check, update and remove skills for the agent",
        example: "postern skill add ./pdf-forms",
        load: async () => (await import("./skills/commands.ts")).register,
      },
    ],
    tables: async () => (await import("./tables.ts")).TABLES,
    diagnose: async (context) => (await import("./diagnosis.ts")).diagnoseFiles(context),
  },
});
