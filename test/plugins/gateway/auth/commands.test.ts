import { Command } from "commander";
import { expect, test } from "vitest";
import { createCommandContext } from "../../../../kernel/cli/command-context.ts";
import { openSession } from "../../../../kernel/cli/session.ts";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import store, { openStore } from "../../../../kernel/store/store.ts";
import { createAccounts, digestOf } from "../../../../plugins/gateway/auth/accounts.ts";
import { registerToken, registerUser } from "../../../../plugins/gateway/auth/commands.ts";
import { MIGRATIONS } from "../../../../plugins/gateway/auth/tables.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { printedBy } from "../../../support/services/printed.ts";

/** Runs a command as main.ts would and answers what it printed. */
function commandLine(home: string) {
  const session = openSession({ POSTERN_HOME: home }, home);
  const context = createCommandContext(session, async () => [store as AnyPlugin], "0.0.0-test");
  return async (...argv: string[]): Promise<string> => {
    const program = new Command("postern").exitOverride();
    registerUser(program.command("user"), context);
    registerToken(program.command("token"), context);
    for (const group of program.commands)
      for (const command of group.commands) command.exitOverride().configureOutput({ writeErr: () => {} });
    return printedBy(() => program.parseAsync(argv, { from: "user" }));
  };
}

test("a user is added once, with a role, and listed", async () => {
  const run = commandLine(temporaryFolder());
  expect(await run("user", "add", "alice")).toContain("postern token create alice");
  await run("user", "add", "bob", "--role", "operator");
  await expect(run("user", "add", "alice")).rejects.toThrow('User "alice" already exists');
  await expect(run("user", "add", "two words")).rejects.toThrow("A user id must be");
  await expect(run("user", "add", "carol", "--role", "king")).rejects.toThrow();
  const { users } = JSON.parse(await run("user", "list", "--json"));
  expect(users.map(({ id, role }: { id: string; role: string }) => [id, role])).toEqual([
    ["alice", "user"],
    ["bob", "operator"],
    ["operator", "operator"],
  ]);
});

test("a token is shown once, kept as a hash, listed without its secret, and revoked by its id", async () => {
  const home = temporaryFolder();
  const run = commandLine(home);
  await expect(run("token", "create", "alice")).rejects.toThrow("postern user add alice");
  await run("user", "add", "alice");
  const made = JSON.parse(
    await run("token", "create", "alice", "--name", "ci", "--expires-in-days", "2", "--json"),
  );
  expect(made).toMatchObject({ user: "alice", name: "ci", revoked_at: null });
  const listed = await run("token", "list", "--json");
  expect(listed).toContain(made.id);
  expect(listed).not.toContain(made.token);

  const opened = openStore(`${home}/store.sqlite`);
  const rows = opened.tables("gateway", MIGRATIONS).all<{ hash: string }>("SELECT hash FROM gateway_tokens");
  expect(rows).toEqual([{ hash: digestOf(made.token) }]);
  const accounts = createAccounts(opened);
  expect(accounts.findToken(digestOf(made.token))?.user).toEqual({ id: "alice", role: "user" });
  await run("token", "revoke", made.id);
  expect(accounts.findToken(digestOf(made.token))).toBeUndefined();
  opened.close();

  await expect(run("token", "revoke", made.id)).rejects.toThrow("already revoked");
  expect(await run("token", "list")).toContain("revoked");
  await expect(run("token", "create", "alice", "--expires-in-days", "soon")).rejects.toThrow();
});
