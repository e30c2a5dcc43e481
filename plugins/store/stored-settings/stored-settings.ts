/** The service `settings`: rows that every node follows, read through the same reader as the environment. */

import { changeable, type LiveReader, type Setting, type Settings } from "../../../kernel/kit/settings.ts";
import { type Env, type Log, reason } from "../../../kernel/plugin.ts";
import type { ChangeableSetting, Live, Store, StoredSettings } from "../services.ts";
import { describe, layer } from "./layers.ts";
import { propose } from "./proposal.ts";
import { decode, PURPOSE, READ, SETTING_TABLES, type SettingRow, writeRow } from "./rows.ts";

export interface StoredSettingsParts {
  readonly store: Store;
  readonly given: Settings;
  readonly readers: readonly LiveReader[];
  readonly log: Log;
  /** True where changes by other processes are of interest also while nobody asks. */
  readonly watches: boolean;
}

const TOPIC = "settings";
/** On one file nobody tells of what a command wrote. */
const LOOK_MS = 1000;
/** The end of a secret may be shown when it is at least so long. */
const LONG_SECRET = 20;
const HINT = 4;

export async function openStoredSettings({
  store,
  given,
  readers,
  log,
  watches,
}: StoredSettingsParts): Promise<StoredSettings & { close(): void }> {
  const sql = await store.tables("settings", SETTING_TABLES);
  const names = changeable(given, readers);
  const key = () => store.keysFor(PURPOSE);
  const rows = store.changes.cache(TOPIC, () => sql.all<SettingRow>(READ));
  const updates = new Set<() => void>();
  let seen = "[]";
  let now = layer(given, readers, { stored: new Map(), unreadable: new Map() });
  let asked = 0;
  let applied = 0;
  let isOpen = false;

  async function look(isOwn = false): Promise<void> {
    const ticket = ++asked;
    // Another process may have written: on one file they are read as they are.
    if (sql.engine === "sqlite") rows.forget();
    const found = await rows.get();
    const text = JSON.stringify(found);
    if (text === seen) return;
    const decoded = await decode(found, names, key);
    // Somebody who asked later has read what is newer.
    if (ticket < applied) return;
    applied = ticket;
    const before = new Map((JSON.parse(seen) as SettingRow[]).map((row) => [row.name, row.value]));
    seen = text;
    const { ignored } = now;
    now = layer(given, readers, decoded);
    for (const [name, why] of now.ignored)
      if (ignored.get(name) !== why) log.warn(`the stored setting ${name} is ignored: ${why}`);
    for (const update of updates) update();
    if (!isOpen || isOwn) return;
    const after = new Map(found.map((row) => [row.name, row.value]));
    const changed = [...names.keys()].filter((name) => before.get(name) !== after.get(name));
    if (changed.length > 0) log.info({ settings: changed }, "settings changed by another node or a command");
  }

  /** The known settings stay in use while the store is away. */
  const lookIfPossible = () => look().catch((error) => log.debug(`settings were not read: ${reason(error)}`));

  let shared: Promise<void> | undefined;
  /** Who asks in the same round of the event loop shares a look. */
  const lookTogether = (): Promise<void> => {
    if (shared !== undefined) return shared;
    shared = lookIfPossible();
    setImmediate(() => {
      shared = undefined;
    });
    return shared;
  };

  const stops = [rows.close];
  if (watches && sql.engine === "postgres") stops.push(store.changes.follow(TOPIC, lookIfPossible));
  if (watches && sql.engine === "sqlite") {
    const timer = setInterval(lookIfPossible, LOOK_MS).unref();
    stops.push(() => clearInterval(timer));
  }
  await look();
  isOpen = watches;

  function viewOf(setting: Setting): ChangeableSetting {
    const { name, about, secret, source, value, range, choices } = setting;
    return {
      name,
      about,
      type: choices === undefined ? (setting.type as ChangeableSetting["type"]) : "choice",
      choices: choices && [...choices],
      minimum: range?.min,
      maximum: range?.max,
      isSecret: secret,
      isSet: source !== "default",
      value: secret ? undefined : value,
      hint: secret && source === "stored" ? hintOf(value) : undefined,
      source,
      isFixed: source === "environment" || source === ".env",
      default: setting.fallback,
      problem: now.ignored.get(name),
    };
  }

  function createLive<Config>(plugin: string, read: (env: Env) => Config): Live<Config> {
    const listeners = new Set<(config: Config) => void>();
    const readNow = () => {
      const settings = given.over(now.stored);
      const config = read(settings.for(plugin));
      // Which settings may be read depends on the others; the values that were read decide whether anything is new.
      const texts = settings.declared.map(({ name }) => [name, now.stored.get(name)?.text]);
      return { settings, config, texts: JSON.stringify(texts) };
    };
    const first = readNow();
    first.settings.assertSound();
    let { config, texts } = first;
    updates.add(() => {
      const next = readNow();
      if (next.texts === texts) return;
      const [problem] = next.settings.problems;
      if (problem !== undefined) {
        // A row is gone that the environment counted on: what ran so far runs on.
        log.warn(`settings are kept as they were: ${problem.name}: ${describe(problem)}`);
        return;
      }
      ({ config, texts } = next);
      for (const listener of listeners) listener(config);
    });
    return {
      async current() {
        await lookTogether();
        return config;
      },
      last: () => config,
      onChange(listener) {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
    };
  }

  return {
    live: async (plugin, read) => createLive(plugin, read),
    async list() {
      await lookIfPossible();
      return now.settings.declared.map(viewOf);
    },
    async preview(plugin, read, values) {
      await look();
      return read(propose(given, readers, now, values).settings.for(plugin));
    },
    async change(values, who) {
      await store.exclusive(TOPIC, async () => {
        rows.forget();
        await look();
        const { written } = propose(given, readers, now, values);
        const isSecret = (name: string) => names.get(name)?.secret === true;
        const sealing = [...written].some(([name, value]) => value && isSecret(name))
          ? await key()
          : undefined;
        await sql.transaction(async (tx) => {
          for (const [name, value] of written)
            await (value === undefined
              ? tx.run("DELETE FROM settings WHERE name = ?", name)
              : writeRow(tx, name, value, isSecret(name) ? sealing : undefined));
          await store.changes.mark(TOPIC, tx);
        });
      });
      // A command says what it did; the service that runs beside it logs it.
      for (const name of Object.keys(values))
        log[watches ? "info" : "debug"]({ setting: name, user: who }, `setting ${name} changed`);
      rows.forget();
      await look(true);
    },
    close() {
      for (const stop of stops) stop();
    },
  };
}

function hintOf(secret = ""): string | undefined {
  return secret.length >= LONG_SECRET ? secret.slice(-HINT) : undefined;
}
