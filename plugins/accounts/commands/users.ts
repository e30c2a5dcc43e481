/** `postern user …` and `postern session …`; they also work while the service is running. */
import { type Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { Account, InvitationInfo, SessionInfo } from "../../../kernel/kit/people.ts";
import { toWire } from "../../../kernel/kit/schema.ts";
import {
  createShortener,
  findByPrefix,
  type JsonOption,
  print,
  relativeTime,
  table,
  verb,
} from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, type User } from "../../../kernel/plugin.ts";
import { type Accounts, createAccounts } from "../records/accounts.ts";
import { MAX_INVITATION_DAYS } from "../records/invitations.ts";
import { tellRevoked } from "../records/revocations.ts";

export function registerUser(group: Command, context: CommandContext): void {
  verb(group, "add <id>", "add a user", "user add alice", "user add bob --role operator")
    .addOption(
      new Option("--role <role>", "what the user may do").choices(["user", "operator"]).default("user"),
    )
    .option("--take-data", "give the user what was kept of an earlier one with that id")
    .action((id: string, options: JsonOption & { role: User["role"]; takeData?: boolean }) =>
      withAccounts(context, async (accounts) => {
        const adding = accounts.addUser(id, options.role, { takesData: options.takeData === true });
        const account = await adding.catch((error) => {
          throw withFlags(error, id);
        });
        print(
          options,
          toWire(Account, account),
          `Added ${id} (role ${account.role}). Create a token with "postern token create ${id}".`,
        );
      }),
    );

  verb(group, "list", "list the users", "user list", "user list --json").action((options: JsonOption) =>
    withAccounts(context, async (accounts) => {
      const users = await accounts.listUsers();
      const rows = users.map(({ id, role, createdAt, name = "" }) => [
        id,
        role,
        relativeTime(createdAt),
        name,
      ]);
      print(
        options,
        { users: users.map((user) => toWire(Account, user)) },
        table(["USER", "ROLE", "SINCE", "NAME"], rows).trimEnd(),
      );
    }),
  );

  verb(
    group,
    "invite <id>",
    "make a link by which a user signs in once; it is shown only once",
    "user invite alice",
    "user invite alice --expires-in-days 1",
  )
    .option("--expires-in-days <days>", "how long the link works, at most 30", inviteDays)
    .action((id: string, options: JsonOption & { expiresInDays?: number }) =>
      withAccounts(context, async (accounts) => {
        const { secret, info } = await accounts.invite(id, options.expiresInDays);
        print(
          options,
          { ...toWire(InvitationInfo, info), token: secret },
          `/?token=${secret}\n\nPut the address of your page before it and send it to ${id}. It works once, until ${info.expiresAt}.`,
        );
      }),
    );

  verb(
    group,
    "role <id> <role>",
    "change what a user may do: user or operator",
    "user role bob operator",
  ).action((id: string, role: string, options: JsonOption) =>
    withAccounts(context, async (accounts) => {
      if (role !== "user" && role !== "operator")
        throw new CommanderError(2, "usage", `the role is user or operator, not "${role}"`);
      print(options, toWire(Account, await accounts.setRole(id, role)), `${id} has the role ${role} now.`);
    }),
  );

  verb(
    group,
    "remove <id>",
    "remove a user with their tokens and sessions",
    "user remove bob",
    "user remove bob --with-data",
  )
    .option(
      "--with-data",
      "delete their threads, jobs, memory and missions too, also of a user removed before or an identity of a channel",
    )
    .action((id: string, options: JsonOption & { withData?: boolean }) =>
      context.with(["accounts"], async ({ accounts }) => {
        const withData = options.withData === true;
        await accounts.removeUser(id, { withData });
        await accounts.tellRevoked();
        print(
          options,
          { id, removed: true, with_data: withData },
          withData
            ? `Removed ${id} and their data.`
            : `Removed ${id}. Their data is kept; "postern user remove ${id} --with-data" deletes it.`,
        );
      }),
    );
}

function inviteDays(text: string): number {
  const days = Number(text);
  if (days > 0 && days <= MAX_INVITATION_DAYS) return days;
  throw new InvalidArgumentError(`It must be a number of days up to ${MAX_INVITATION_DAYS}.`);
}

/** The records name no flags, since the page shows their messages too. */
function withFlags(error: unknown, id: string): unknown {
  if (!(error instanceof Fault) || error.code !== "user_has_data") return error;
  const hint = `Delete it with "postern user remove ${id} --with-data", or give it to the new user with --take-data.`;
  const message = `An earlier user "${id}" was removed and their data was kept. ${hint}`;
  return new Fault("invalid", error.code, message, { param: "id" });
}

export function registerSession(group: Command, context: CommandContext): void {
  verb(
    group,
    "list",
    "list the browsers that are signed in",
    "session list",
    "session list --user ann --json",
  )
    .option("--user <id>", "only this user's")
    .action((options: JsonOption & { user?: string }) =>
      withAccounts(context, async (accounts) => {
        const sessions = await accounts.listSessions(options.user);
        const shorten = createShortener(sessions.map(({ id }) => id));
        const rows = sessions.map(({ id, user, via, createdAt, lastUsedAt, browser = "" }) => [
          shorten(id),
          user,
          via.replace("_", " "),
          relativeTime(createdAt),
          lastUsedAt === undefined ? "never" : relativeTime(lastUsedAt),
          browser,
        ]);
        print(
          options,
          { sessions: sessions.map((session) => toWire(SessionInfo, session)) },
          sessions.length === 0
            ? "Nobody is signed in."
            : table(["ID", "USER", "VIA", "SINCE", "LAST USED", "BROWSER"], rows).trimEnd(),
        );
      }),
    );

  verb(
    group,
    "end [session-id]",
    "sign a browser out, or all of a user's",
    "session end 3f0c0c4e",
    "session end --user ann",
  )
    .option("--user <id>", "all of this user's")
    .action((typed: string | undefined, options: JsonOption & { user?: string }) =>
      withAccounts(context, async (accounts) => {
        const id = typed && (await sessionOf(accounts, typed));
        if ((id === undefined) === (options.user === undefined))
          throw new CommanderError(2, "usage", "give either the id of a session or --user");
        const ended =
          id === undefined
            ? await accounts.endSessions(options.user ?? "")
            : Number(await accounts.endSession(id));
        if (id !== undefined && ended === 0) {
          const message = `there is no session ${id}; "postern session list" shows all sessions`;
          throw new Fault("missing", "session_not_found", message);
        }
        print(options, { ended }, ended === 1 ? "Ended 1 session." : `Ended ${ended} sessions.`);
      }),
    );
}

/** The id that was typed, or the only one that begins so. */
async function sessionOf(accounts: Accounts, typed: string): Promise<string> {
  const sessions = await accounts.listSessions();
  const found = await findByPrefix(typed, {
    what: "session",
    find: async (id) => sessions.find((session) => session.id === id),
    list: async () => ({ items: sessions }),
    title: ({ user, browser = "" }) => `${user}, ${browser}`,
  });
  return found?.id ?? typed;
}

export function withAccounts(
  context: CommandContext,
  work: (accounts: Accounts) => Promise<void>,
): Promise<void> {
  return context.with(["store"], async ({ store }) => {
    await work(await createAccounts(store));
    await tellRevoked(store);
  });
}
