/** `postern secret rotate`. */
import type { Command } from "commander";
import type { Keyring, OwnedTables } from "../../../kernel/kit/store.ts";
import { openStatusLine, say, sayJson, table } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, type Sql } from "../../../kernel/plugin.ts";
import { readStoreSettings } from "../config/settings.ts";
import { type Count, reseal, survey } from "../keys/rotation.ts";
import { keyFileOf, loadKeys, newKey, replaceKeyFile } from "../keys/secrets-key.ts";
import type { Store } from "../services.ts";
import { SETTING_TABLES } from "../stored-settings/rows.ts";

interface Options {
  readonly dryRun?: boolean;
  readonly removeOld?: boolean;
  readonly leaveUnreadable?: boolean;
  readonly json?: boolean;
}

const STEPS = `
With the key in secrets.key (one machine, SQLite):
  $ postern secret rotate               makes a new key and seals everything under it
  $ postern secret rotate --remove-old  takes the old key out of secrets.key

With the key in POSTERN_SECRETS_KEY (any number of nodes):
  1. openssl rand -base64 32, and POSTERN_SECRETS_KEY=<old>,<new> on every node: each can open both
  2. POSTERN_SECRETS_KEY=<new>,<old> on every node: each seals under the new one
  3. $ postern secret rotate
  4. POSTERN_SECRETS_KEY=<new>

The service may run. If this is interrupted, run it again: both keys open everything until it is done.
Callbacks are signed with both keys, and integrations may use either, as long as both are listed: give the receivers the new
one (postern webhook key) before you remove the old one. Questions of MCP servers that wait for an answer, at most 7 days, and
sessions that clients hold open only with the key they were made with. Keep the old key as long as you keep backups from before.`;

export function register(group: Command, context: CommandContext): void {
  group
    .command("rotate")
    .description("seal every stored secret under a new key")
    .option("--dry-run", "only say what would be sealed again")
    .option("--remove-old", "take old keys out of secrets.key, if nothing is sealed under them any more")
    .option("--leave-unreadable", "go on although some values can be opened by no key")
    .option("--json", "print JSON")
    .addHelpText("after", STEPS)
    .action(async (options: Options) => {
      const { secretsKey } = context.settingsOf("store", readStoreSettings);
      const owned = await context.tables();
      await context.with(["store"], async ({ store }) => {
        const sql = await store.tables("settings", SETTING_TABLES);
        const keys = await loadKeys(context.home, secretsKey);
        const file = secretsKey === undefined ? keyFileOf(context.home) : undefined;
        await (options.removeOld ? removeOld : rotate)({ store, sql, owned, keys, file, options });
      });
    });
}

interface Work {
  readonly store: Store;
  readonly sql: Sql;
  readonly owned: readonly OwnedTables[];
  readonly keys: Keyring;
  /** Undefined where the variable holds the keys. */
  readonly file: string | undefined;
  readonly options: Options;
}

async function rotate(work: Work): Promise<void> {
  const { store, sql, owned, keys, file, options } = work;
  const isNew = file !== undefined && keys.all().length === 1;
  if (file === undefined && keys.all().length === 1) {
    const message =
      "POSTERN_SECRETS_KEY has one key: make another (openssl rand -base64 32) and set POSTERN_SECRETS_KEY=<new>,<old> here and on every node.";
    throw new Fault("config", "no_new_key", message, { param: "POSTERN_SECRETS_KEY" });
  }
  const before = await survey(sql, owned, keys);
  if (!options.dryRun && !options.leaveUnreadable) refuseUnreadable(before);
  // Under a key that is yet to be made, all of it is old.
  const toSeal = sumOf(before, "old") + (isNew ? sumOf(before, "current") : 0);
  if (options.dryRun) {
    const makes = isNew ? "A new key would be made, and " : "";
    const words = `${makes}${toSeal} values would be sealed again. Nothing was changed.`;
    return report(before, options, 0, words);
  }
  if (isNew && file !== undefined) await addKey(work, file);
  let sealed = 0;
  const { show, end } = openStatusLine();
  try {
    for await (const done of reseal(sql, owned, keys)) {
      sealed = done;
      show(`sealing again: ${done} of ${toSeal}`);
    }
  } finally {
    end();
  }
  if (sql.engine === "postgres") await (await import("../postgres/store.ts")).markKey(sql, keys.all());
  // Nodes keep what they have read of settings.
  await store.changes.mark("settings");
  const next =
    file === undefined
      ? "The old key can be removed: leave only the first in POSTERN_SECRETS_KEY on every node."
      : "The old key can be removed: postern secret rotate --remove-old.";
  const words = `${sealed} values were sealed again; all are sealed under the new key now. ${next} Backups from before need it.`;
  report(await survey(sql, owned, keys), options, sealed, words);
}

/** One at a time: of two who make a key at once, the second would take away the first one's. */
async function addKey({ sql, keys }: Work, file: string): Promise<void> {
  await sql.transaction(async (tx) => {
    // A write holds the file against every other process until this is over.
    await tx.run("DELETE FROM settings WHERE name = ''");
    const known = keys.all();
    if (known.length === 1) await replaceKeyFile(file, [newKey(), ...known]);
  });
}

async function removeOld({ sql, owned, keys, file, options }: Work): Promise<void> {
  if (file === undefined) {
    const message = "The keys are in POSTERN_SECRETS_KEY: leave only the first there, on every node.";
    throw new Fault("invalid", "key_in_variable", message, { usage: true });
  }
  const counts = await survey(sql, owned, keys);
  const old = sumOf(counts, "old");
  if (old > 0) {
    const message = `${old} values are still sealed under the old key: run "postern secret rotate" first.`;
    throw new Fault("unavailable", "old_key_needed", message);
  }
  const listed = keys.all().length - 1;
  if (!options.dryRun && listed > 0) await replaceKeyFile(file, [keys.all()[0]]);
  const words = options.dryRun
    ? `${listed} old keys would be removed. Nothing was changed.`
    : listed === 0
      ? "There was no old key."
      : `The old key was removed from ${file}.`;
  report(counts, options, 0, words);
}

function refuseUnreadable(counts: readonly Count[]): void {
  const found = counts.flatMap(({ about, unreadable }) => unreadable.map((name) => `${name} (${about})`));
  if (found.length === 0) return;
  const more = found.length > 5 ? ` and ${found.length - 5} more` : "";
  const message = `No listed key opens ${found.slice(0, 5).join(", ")}${more}; nothing was changed. List the key they were sealed under after the others, set them again, or leave them as they are with --leave-unreadable.`;
  throw new Fault("config", "secrets_unreadable", message);
}

const sumOf = (counts: readonly Count[], part: "current" | "old"): number =>
  counts.reduce((sum, count) => sum + count[part], 0);

function report(
  counts: readonly Count[],
  { json, dryRun = false }: Options,
  sealed: number,
  words: string,
): void {
  if (json) {
    sayJson({ dry_run: dryRun, sealed_again: sealed, places: counts });
    return;
  }
  const rows = counts.map(({ about, current, old, unreadable }) => [
    about,
    ...[current, old, unreadable.length].map(String),
  ]);
  say(`${table(["VALUES", "CURRENT KEY", "OLD KEY", "UNREADABLE"], rows, { indent: "  " })}${words}\n`);
}
