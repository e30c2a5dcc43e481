/** Runs a command as main.ts would and answers what it printed. */

import { Command } from "commander";
import { expect, test } from "vitest";
import { createCommandContext } from "../../../kernel/cli/command-context.ts";
import { openSession } from "../../../kernel/cli/service/session.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import { registerToken } from "../../../plugins/accounts/commands/tokens.ts";
import { registerSession, registerUser } from "../../../plugins/accounts/commands/users.ts";
import { createAccounts } from "../../../plugins/accounts/records/accounts.ts";
import { digestOf } from "../../../plugins/accounts/records/secret.ts";
import { MIGRATIONS } from "../../../plugins/accounts/records/tables.ts";
import store from "../../../plugins/store/plugin.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { temporaryFolder } from "../../support/home.ts";
import { agentPlugins } from "../../support/services/agent-plugins.ts";
import { printedBy } from "../../support/services/printed.ts";

function commandLine(home: string, more: readonly AnyPlugin[] = []) {
  const session = openSession({ POSTERN_HOME: home, MODEL_PROVIDER: "builtin" }, home);
  const context = createCommandContext(session, async () => [store as AnyPlugin, ...more], "0.0.0-test");
  return async (...argv: string[]): Promise<string> => {
    const program = new Command("postern").exitOverride();
    const user = program.command("user");
    registerUser(user, context);
    registerSession(program.command("session"), context);
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
  const sql = await opened.tables("gateway", MIGRATIONS);
  const rows = await sql.all<{ hash: string }>("SELECT hash FROM gateway_tokens");
  expect(rows).toEqual([{ hash: digestOf(made.token) }]);
  const accounts = await createAccounts(opened);
  expect((await accounts.findToken(digestOf(made.token)))?.user).toEqual({ id: "alice", role: "user" });
  await run("token", "revoke", made.id);
  expect(await accounts.findToken(digestOf(made.token))).toBeUndefined();
  await opened.close();

  await expect(run("token", "revoke", made.id)).rejects.toThrow("already revoked");
  expect(await run("token", "list")).toContain("revoked");
  await expect(run("token", "create", "alice", "--expires-in-days", "soon")).rejects.toThrow();
});

test("a token's scope is given by flags, listed in words, and checked", async () => {
  const run = commandLine(temporaryFolder(), agentPlugins);
  await run("user", "add", "ann");
  const create = (...flags: string[]) => run("token", "create", "ann", ...flags);
  const made = JSON.parse(
    await create("--tools", "memory_read, weather", "--models", "builtin", "--per-day-usd", "2.5", "--json"),
  );
  expect(made).toMatchObject({
    tools: ["memory_read", "weather"],
    models: ["builtin"],
    per_day_usd: 2.5,
    warnings: ["There is no tool weather here now."],
  });
  const printed = await create("--name", "codex", "--tools", "none", "--expires-in-days", "90");
  expect(printed).toContain("It may use no tools.");
  await create("--tools", "all", "--models", "all");
  const listed = await run("token", "list");
  expect(listed).toContain("only memory_read, weather; model builtin; $2.50 a day\n");
  expect(listed).toContain("no tools\n");
  expect(listed).toContain("everything\n");
  expect(JSON.parse(await run("token", "list", "--json")).tokens).toContainEqual(
    expect.objectContaining({ name: "codex", tools: [], models: null, per_day_usd: null }),
  );
  for (const [flag, value, words] of [
    ["--tools", "", "name of a tool"],
    ["--tools", "a,,b", "name of a tool"],
    ["--tools", Array(101).fill("a").join(","), "at most 100"],
    ["--models", "a b", "name of a model"],
    ["--models", Array(51).fill("a").join(","), "1 to 50"],
    ["--per-day-usd", "-1", "above 0"],
    ["--per-day-usd", "much", "US dollars"],
    ["--per-day-usd", "NaN", "US dollars"],
    ["--per-day-usd", "", "US dollars"],
    ["--expires-in-days", "0", "above 0"],
  ] as const)
    await expect(create(flag, value), `${flag} ${value}`).rejects.toThrow(words);
  expect(JSON.parse(await run("token", "list", "--json")).tokens).toHaveLength(3);
});

test("roles and expiry are changed, sessions listed and ended", async () => {
  const home = temporaryFolder();
  const run = commandLine(home);
  await run("user", "add", "bob");
  expect(await run("user", "role", "bob", "operator")).toContain("bob has the role operator now");
  await expect(run("user", "role", "operator", "user")).rejects.toThrow("built in");
  await expect(run("user", "role", "bob", "king")).rejects.toThrow("user or operator");
  const made = JSON.parse(await run("token", "create", "bob", "--json"));
  expect(await run("token", "expire", made.id, "30")).toMatch(/expires \d{4}-/);
  expect(await run("token", "expire", made.id, "never")).toContain("expires never");
  await expect(run("token", "expire", made.id, "soon")).rejects.toThrow("or never");

  const opened = openStore(`${home}/store.sqlite`);
  const expiresAt = new Date(Date.now() + 60_000);
  const accounts = await createAccounts(opened);
  for (const browser of ["one", "two", "three"])
    await accounts.openSession({ user: "bob", source: `token:${made.id}`, expiresAt, browser });
  await opened.close();
  const { sessions } = JSON.parse(await run("session", "list", "--user", "bob", "--json"));
  expect(sessions).toHaveLength(3);
  expect(await run("session", "end", sessions[0].id)).toBe("Ended 1 session.\n");
  expect(await run("session", "end", "--user", "bob")).toBe("Ended 2 sessions.\n");
  await expect(run("session", "end", sessions[0].id)).rejects.toThrow("there is no session");
  await expect(run("session", "end")).rejects.toThrow("either");
  expect(await run("session", "list")).toBe("Nobody is signed in.\n");
});

test("a user whose earlier data was kept is added only with a flag, which the refusal names", async () => {
  const run = commandLine(temporaryFolder(), agentPlugins);
  await run("user", "add", "bob");
  expect(await run("user", "remove", "bob")).toContain("Their data is kept");
  await expect(run("user", "add", "bob")).rejects.toThrow(
    'Delete it with "postern user remove bob --with-data", or give it to the new user with --take-data.',
  );
  expect(await run("user", "add", "bob", "--take-data")).toContain("Added bob");
});
