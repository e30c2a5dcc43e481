/** Who has an account, for plugins that are there without the gateway too. */
import { definePlugin } from "../../../kernel/plugin.ts";
import { createAccounts } from "./accounts.ts";
import { MIGRATIONS } from "./tables.ts";

export default definePlugin({
  name: "accounts",
  needs: ["store"],
  provides: ["accounts"],
  names: {
    user: ({ rows }) => rows("SELECT id AS name, role AS about FROM gateway_users ORDER BY id LIMIT 500"),
    token: ({ rows }) =>
      rows('SELECT id AS name, "user" AS about FROM gateway_tokens ORDER BY created_at DESC LIMIT 200'),
  },
  tables: async () => {
    const { SEALED_TOKEN } = await import("./tokens/operator-token.ts");
    return [{ owner: "gateway", migrations: MIGRATIONS, sealed: [SEALED_TOKEN] }];
  },
  configure: () => ({}),
  diagnose: async (context) => (await import("./tokens/expiry-watch.ts")).diagnoseExpiry(context),
  async start({ use, announce }) {
    const accounts = await createAccounts(use.store);
    const count = (await accounts.listUsers()).length;
    announce(count === 1 ? "1 user" : `${count} users`);
    return { accounts: { find: accounts.findUser } };
  },
});
