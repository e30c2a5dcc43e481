/** Models: which one answers, how its provider is asked, what it costs, and what each user has spent. */
import { definePlugin } from "../../kernel/plugin.ts";
import { readSettings } from "./settings.ts";

export default definePlugin({
  name: "models",
  needs: ["store", "settings", "kernel", "homeFiles"],
  provides: ["models", "modelCheck"],
  configure: readSettings,
  start: async (context) => (await import("./start.ts")).startModels(context),
  operations: {
    commands: [
      {
        name: "models",
        group: "Operate",
        about: "list the models that can be used here, with price, window and retirement",
        load: async () => (await import("./commands/models.ts")).register,
      },
      {
        name: "setup",
        group: "Operate",
        about: "choose a model, test it, set a spending cap and try a tool",
        load: async () => (await import("./commands/setup.ts")).register,
      },
    ],
    tables: async () => {
      const { MIGRATIONS } = await import("./spending/spending.ts");
      return [{ owner: "models", migrations: MIGRATIONS, personal: ["spending", "token_spending"] }];
    },
    live: readSettings,
    diagnose: async (context) => (await import("./choice/check.ts")).diagnoseModel(context),
  },
});
