/** The service `settings`: rows that every node follows, read through the same reader as the environment. */
import {
  type ChangeableSetting,
  changeable,
  type Live,
  type LiveReader,
  type Setting,
  type Settings,
  type StoredSettings,
  type StoredValues,
} from "../../../kernel/kit.ts";
import { type Env, type Log, reason, type Store } from "../../../kernel/plugin.ts";
import { layer } from "./layers.ts";
import { describe, propose } from "./proposal.ts";
import { decode, PURPOSE, READ, removeRow, SETTING_TABLES, type SettingRow, writeRow } from "./rows.ts";

export interface StoredSettingsParts {
  readonly store: Store;
  /** The environment and `.env`. */
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

interface Follower {
  update(): void;
}

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
  const followers = new Set<Follower>();
  let seen = "[]";
  let now = layer(given, readers, new Map());
  let problems: ReadonlyMap<string, string> = new Map();
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
    const { stored, unreadable } = await decode(found, names, key);
    // Somebody who asked later has read what is newer.
    if (ticket < applied) return;
    applied = ticket;
    const before = new Map((JSON.parse(seen) as SettingRow[]).map((row) => [row.name, row.value]));
    seen = text;
    apply(stored, unreadable);
    if (!isOpen || isOwn) return;
    const after = new Map(found.map((row) => [row.name, row.value]));
    const changed = [...names.keys()].filter((name) => before.get(name) !== after.get(name));
    if (changed.length > 0) log.info({ settings: changed }, "settings changed by another node or a command");
  }

  function apply(stored: StoredValues, unreadable: ReadonlyMap<string, string>): void {
    now = layer(given, readers, stored);
    const wrong = new Map(unreadable);
    for (const [name, problem] of now.ignored) wrong.set(name, `${problem.name}: ${describe(problem)}`);
    for (const [name, why] of wrong)
      if (problems.get(name) !== why) log.warn(`the stored setting ${name} is ignored: ${why}`);
    problems = wrong;
    for (const follower of followers) follower.update();
  }

  /** What is known is used where the store is away. */
  const lookIfPossible = () => look().catch((error) => log.debug(`settings were not read: ${reason(error)}`));

  const stops = [rows.close];
  if (watches && sql.engine === "postgres") stops.push(store.changes.follow(TOPIC, lookIfPossible));
  if (watches && sql.engine === "sqlite") {
    const timer = setInterval(lookIfPossible, LOOK_MS).unref();
    stops.push(() => clearInterval(timer));
  }
  await look();
  isOpen = watches;

  function viewOf(setting: Setting): ChangeableSetting {
    const { name, secret, source, value, range, choices, fallback } = setting;
    const problem = problems.get(name);
    return {
      name,
      about: setting.about,
      type: choices === undefined ? (setting.type as ChangeableSetting["type"]) : "choice",
      ...(choices && { choices }),
      ...(range && { minimum: range.min, maximum: range.max }),
      isSecret: secret,
      isSet: source !== "default",
      ...(!secret && value !== undefined && { value }),
      ...(secret && source === "stored" && hintOf(value)),
      source,
      isFixed: source === "environment" || source === ".env",
      ...(fallback !== undefined && { default: fallback }),
      ...(problem !== undefined && { problem }),
    };
  }

  return {
    async live(plugin, read) {
      const live = createLive(plugin, read, {
        settings: () => given.over(now.stored),
        stored: () => now.stored,
        look: lookIfPossible,
        log,
      });
      followers.add(live);
      return live;
    },
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
              ? removeRow(tx, name)
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

function createLive<Config>(
  plugin: string,
  read: (env: Env) => Config,
  parts: {
    settings(): Settings;
    stored(): StoredValues;
    look(): Promise<void>;
    readonly log: Log;
  },
): Live<Config> & Follower {
  const listeners = new Set<(config: Config) => void>();
  const readNow = () => {
    const settings = parts.settings();
    const config = read(settings.for(plugin));
    // What may be read depends on the rest; what was read decides whether anything is new.
    const texts = settings.declared.map(({ name }) => [name, parts.stored().get(name)?.text]);
    return { settings, config, texts: JSON.stringify(texts) };
  };
  const first = readNow();
  first.settings.assertSound();
  let { config, texts } = first;

  return {
    async current() {
      await parts.look();
      return config;
    },
    last: () => config,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    update() {
      const next = readNow();
      if (next.texts === texts) return;
      if (next.settings.problems.length > 0) {
        // A row is gone that the environment counted on: what ran so far runs on.
        const [problem] = next.settings.problems;
        parts.log.warn(`settings are kept as they were: ${problem?.name}: ${problem && describe(problem)}`);
        return;
      }
      ({ config, texts } = next);
      for (const listener of listeners) listener(config);
    },
  };
}

function hintOf(secret: string | undefined): { hint?: string } {
  return secret !== undefined && secret.length >= LONG_SECRET ? { hint: secret.slice(-HINT) } : {};
}
