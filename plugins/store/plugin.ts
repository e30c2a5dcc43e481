/** The store as a plugin: one SQLite file in the home, or PostgreSQL for any number of nodes. Its code is loaded when it starts. */

import { definePlugin } from "../../kernel/plugin.ts";
import { readStoreSettings } from "./config/settings.ts";

export default definePlugin({
  name: "store",
  needs: ["kernel"],
  provides: ["store", "settings", "storage", "storeHealth"],
  configure: readStoreSettings,
  start: async (context) => (await import("./start.ts")).startStore(context),
  operations: {
    commands: [
      {
        name: "store",
        group: "Keep",
        about: "copy, back up, restore and prune everything that is kept",
        example: "postern store backup postern.backup",
        load: async () => (await import("./commands/store.ts")).register,
      },
      {
        name: "secret",
        group: "Advanced",
        about: "change the key that secrets are sealed under",
        example: "postern secret rotate",
        load: async () => (await import("./commands/rotate.ts")).register,
      },
    ],
    tables: async () => {
      const [{ SEALED, SETTING_TABLES }, { MAINTENANCE_TABLES }] = await Promise.all([
        import("./stored-settings/rows.ts"),
        import("./maintenance/growth.ts"),
      ]);
      return [
        { owner: "settings", migrations: SETTING_TABLES, sealed: [SEALED] },
        { owner: "maintenance", migrations: MAINTENANCE_TABLES },
      ];
    },
    diagnose: async (context) => (await import("./maintenance/diagnosis.ts")).examineStore(context),
  },
});
