/** Who has an account, for plugins that are there without the gateway too. */
import { definePlugin } from "../../../kernel/plugin.ts";
import { createAccounts } from "./accounts.ts";

export default definePlugin({
  name: "accounts",
  needs: ["store"],
  provides: ["accounts"],
  configure: () => ({}),
  start({ use, announce }) {
    const accounts = createAccounts(use.store);
    const count = accounts.listUsers().length;
    announce(count === 1 ? "1 user" : `${count} users`);
    return { accounts: { find: accounts.findUser } };
  },
});
