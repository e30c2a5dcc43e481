/** The people who may use this Postern: accounts, tokens, browser sessions, the identity provider, and who they are in channels. */
import type { Command } from "commander";
import { definePlugin } from "../../kernel/plugin.ts";
import type { Followers } from "./followers.ts";
import type { Accounts } from "./records/accounts.ts";
import type { Identities } from "./records/identities.ts";
import { MIGRATIONS } from "./records/tables.ts";
import { readSettings } from "./settings.ts";
import type { SignIn } from "./sign-in/sign-in.ts";

export interface AccountsService extends Omit<Accounts, "removeUser"> {
  /**
   * Removes the user with all tokens and sessions, and stops what runs for them. With data, all that plugins keep of them goes too: threads,
   * jobs, memory, missions. Receipts of tool calls, which hold nothing that was said, stay. With data it also takes an identity of a
   * channel, or a user who was removed before and whose data was kept.
   */
  removeUser(id: string, options: { readonly withData: boolean }): Promise<void>;
  /**
   * Adds what a plugin does when a user goes or becomes another. Returns the undo. Such a plugin names the service in `extends`, so that a
   * command which removes a user starts it too.
   */
  readonly follow: Followers["follow"];
  /** Starts checking credentials for a channel that people sign in to. Close it with the channel. */
  openSignIn(): Promise<SignIn>;
  /** Tells every node that a credential ended. */
  tellRevoked(): Promise<void>;
  /** Calls `recheck` when another node tells that a credential ended. Returns a function that unsubscribes. */
  followRevoked(recheck: () => Promise<void>): () => void;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    accounts: AccountsService;
    identities: Identities;
  }
}

export default definePlugin({
  name: "accounts",
  needs: ["kernel", "store"],
  provides: ["accounts", "identities"],
  configure: readSettings,
  async start({ config, use, home, log, announce }) {
    const { store, kernel } = use;
    const [{ createAccounts }, { createFollowers }, { createIdentities }, { followRevoked, tellRevoked }] =
      await Promise.all([
        import("./records/accounts.ts"),
        import("./followers.ts"),
        import("./records/identities.ts"),
        import("./records/revocations.ts"),
      ]);
    const accounts = await createAccounts(store);
    const followers = createFollowers(store, kernel);
    const count = (await accounts.listUsers()).length;
    announce(count === 1 ? "1 user" : `${count} users`);
    return {
      accounts: {
        ...accounts,
        removeUser: (id, options) => accounts.removeUser(id, options, () => followers.remove(id, options)),
        follow: followers.follow,
        // Loaded when a channel asks for it: commands need only the records.
        async openSignIn() {
          const { openSignIn } = await import("./sign-in/sign-in.ts");
          return openSignIn({ config, home, store, accounts, mask: kernel.mask, log });
        },
        tellRevoked: () => tellRevoked(store),
        followRevoked: (recheck) => followRevoked(store, recheck),
      },
      identities: createIdentities(await store.tables("gateway", MIGRATIONS), accounts, followers.give),
    };
  },
  operations: {
    commands: [
      {
        name: "user",
        group: "People",
        about:
          "add, list, change and remove the people who may use this Postern, and pair identities of channels with them",
        example: "postern user add ann",
        load: async () => {
          const [{ registerUser }, { registerPairing }] = await Promise.all([
            import("./commands/users.ts"),
            import("./commands/pairing.ts"),
          ]);
          return (group: Command, context) => {
            registerUser(group, context);
            registerPairing(group, context);
          };
        },
      },
      {
        name: "token",
        group: "People",
        about: "create, list, change and revoke people's tokens",
        example: "postern token create ann --name laptop",
        load: async () => (await import("./commands/tokens.ts")).registerToken,
      },
      {
        name: "session",
        group: "People",
        about: "list the browsers that are signed in, and sign them out",
        example: "postern session list",
        load: async () => (await import("./commands/users.ts")).registerSession,
      },
    ],
    names: {
      user: ({ rows }) => rows("SELECT id AS name, role AS about FROM gateway_users ORDER BY id LIMIT 500"),
      token: ({ rows }) =>
        rows('SELECT id AS name, "user" AS about FROM gateway_tokens ORDER BY created_at DESC LIMIT 200'),
    },
    tables: async () => {
      const { SEALED_TOKEN } = await import("./sign-in/operator-token.ts");
      return [{ owner: "gateway", migrations: MIGRATIONS, sealed: [SEALED_TOKEN] }];
    },
    diagnose: async (context) => (await import("./diagnosis.ts")).diagnose(context),
  },
});
