/** Who has an account, for plugins that are there without the gateway too. */
import { definePlugin } from "../../../kernel/plugin.ts";
import { createAccounts } from "./accounts.ts";
import { MIGRATIONS } from "./tables.ts";

export default definePlugin({
  name: "accounts",
  needs: ["store"],
  provides: ["accounts"],
  tables: async () => [{ owner: "gateway", migrations: MIGRATIONS }],
  configure: () => ({}),
  async start({ use, announce }) {
    const accounts = await createAccounts(use.store);
    const count = (await accounts.listUsers()).length;
    announce(count === 1 ? "1 user" : `${count} users`);
    return { accounts: { find: accounts.findUser } };
  },
});
