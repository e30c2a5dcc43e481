import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Running } from "../../../kernel/kernel.ts";
import { type AnyPlugin, definePlugin, type Env } from "../../../kernel/plugin.ts";
import type { Variables } from "../../../kernel/settings/env.ts";
import store from "../../../plugins/store/plugin.ts";
import type { StoredSettings } from "../../../plugins/store/services.ts";
import { temporaryFolder } from "../../support/home.ts";
import { testOnSqlite } from "../../support/run/engine.ts";
import { bootKernel } from "../../support/services/kernel.ts";

const readLamp = (env: Env) => {
  const colour = env.oneOf("LAMP_COLOUR", ["white", "red", "none"], "white", "Its colour");
  const level = env.integer("LAMP_LEVEL", 3, { min: 1, max: 9 }, "How bright it is");
  const names = env.list("LAMP_NAMES", "What it is called");
  const url = env.url("LAMP_URL", undefined, "Where it is");
  const key = env.secret("LAMP_KEY", "What opens it");
  if (colour === "red" && url === undefined) env.refuse("LAMP_URL", "a URL, because LAMP_COLOUR is red");
  env.sends("LAMP_KEY", "LAMP_URL");
  return { colour, level, names, url, key };
};

const lamp = definePlugin({
  name: "lamp",
  needs: ["settings"],
  configure: (env) => ({ port: env.port("LAMP_PORT", 1), ...readLamp(env) }),
  start: async ({ use }) => {
    // As at every start: what it needs is there, or the start fails.
    await use.settings.live("lamp", readLamp);
  },
  operations: {
    live: readLamp,
  },
});

async function bootLamp(variables: Variables = {}, home = temporaryFolder()) {
  const running = await bootKernel([store as AnyPlugin, lamp as AnyPlugin], variables, { home });
  const settings = running.service("settings");
  const live = await settings.live("lamp", readLamp);
  return { running, logged: running.logged, home, settings, live };
}

async function plant(running: Running, name: string, value: string): Promise<void> {
  const sql = await running.service("store").tables("planted", []);
  await sql.run("INSERT INTO settings (name, value, sealed, updated_at) VALUES (?, ?, 0, '')", name, value);
}

const find = async (settings: StoredSettings, name: string) =>
  (await settings.list()).find((setting) => setting.name === name);

test("the environment wins over what is stored, which wins over the default", async () => {
  const { settings, live } = await bootLamp({ LAMP_COLOUR: "none" });
  expect(await live.current()).toMatchObject({ colour: "none", level: 3 });
  await settings.change({ LAMP_LEVEL: "5" }, "ann");
  expect(await live.current()).toMatchObject({ colour: "none", level: 5 });
  expect(await find(settings, "LAMP_LEVEL")).toMatchObject({
    ...{
      value: "5",
      source: "stored",
      isFixed: false,
      default: "3",
      type: "integer",
      minimum: 1,
      maximum: 9,
    },
  });
  expect(await find(settings, "LAMP_COLOUR")).toMatchObject({
    ...{ value: "none", source: "environment", isFixed: true, choices: ["white", "red", "none"] },
  });
  await settings.change({ LAMP_LEVEL: null }, "ann");
  expect(await live.current()).toMatchObject({ level: 3 });
});

test("a change tells who follows it, and nobody else, and the log names it without its value", async () => {
  const { settings, live, logged } = await bootLamp();
  const other = await settings.live("lamp", (env) =>
    env.oneOf("LAMP_COLOUR", ["white", "red", "none"], "white"),
  );
  const heard: unknown[] = [];
  live.onChange(({ level }) => heard.push(level));
  other.onChange((colour) => heard.push(colour));
  const before = live.last();
  await settings.change({ LAMP_LEVEL: "7" }, "ann");
  expect(heard).toEqual([7]);
  await settings.change({ LAMP_LEVEL: "7" }, "ann");
  expect(heard).toEqual([7]);
  expect(await live.current()).toBe(live.last());
  expect(live.last()).not.toBe(before);
  const line = logged.find((text) => text.includes("setting LAMP_LEVEL changed"));
  expect(JSON.parse(line ?? "{}")).toMatchObject({ setting: "LAMP_LEVEL", user: "ann" });
  expect(line).not.toContain('"7"');
});

test("a change that is wrong anywhere is refused with every reason, and nothing is stored", async () => {
  const { settings, live } = await bootLamp({ LAMP_NAMES: "hall" });
  const refused = settings.change(
    {
      ...{ LAMP_COLOUR: "red", LAMP_LEVEL: "10", LAMP_NAMES: "attic", LAMP_PORT: "99", PLUGINS: "./evil.ts" },
      LAMP_KEY: "two\nlines",
    },
    "ann",
  );
  await expect(refused).rejects.toMatchObject({ kind: "invalid", code: "bad_settings" });
  const { problems } = (await refused.catch((error) => error)) as {
    problems: { param: string; message: string }[];
  };
  expect(Object.fromEntries(problems.map(({ param, message }) => [param, message]))).toMatchObject({
    LAMP_NAMES: expect.stringContaining("set in the environment"),
    LAMP_PORT: expect.stringContaining("environment or in .env"),
    PLUGINS: expect.stringContaining("environment or in .env"),
    LAMP_KEY: expect.stringContaining("line break"),
    LAMP_LEVEL: 'got "10", expected a whole number from 1 to 9',
    LAMP_URL: "got nothing, expected a URL, because LAMP_COLOUR is red",
  });
  expect(await live.current()).toMatchObject({ colour: "white", level: 3 });
  expect((await settings.list()).filter(({ source }) => source === "stored")).toEqual([]);
});

testOnSqlite(
  "a secret is sealed: it is in no file of the home, in no answer and in no log line",
  async () => {
    const secret = "lamp-key-which-is-quite-long-4711";
    const { settings, live, home, logged, running } = await bootLamp();
    await settings.change({ LAMP_KEY: secret }, "ann");
    expect((await live.current()).key).toBe(secret);
    expect(await find(settings, "LAMP_KEY")).toMatchObject({ isSecret: true, isSet: true, hint: "4711" });
    expect(JSON.stringify(await settings.list())).not.toContain(secret);
    expect(running.service("kernel").mask.hide(`got ${secret}!`)).toBe("got [secret]!");
    expect(logged.join()).not.toContain(secret);
    const files = readdirSync(home).filter((name) => name.startsWith("store.sqlite"));
    expect(files.length).toBeGreaterThan(0);
    for (const name of files) expect(readFileSync(join(home, name)).includes(secret)).toBe(false);
  },
);

test("a row that somebody planted has no effect, and a bad one is ignored alone, with a warning", async () => {
  const home = temporaryFolder();
  const first = await bootLamp({}, home);
  await plant(first.running, "LAMP_PORT", "99");
  await plant(first.running, "PLUGINS", "./evil.ts");
  await plant(first.running, "LAMP_KEY", "a-key-of-somebody-elses");
  await plant(first.running, "LAMP_COLOUR", "red");
  await plant(first.running, "LAMP_LEVEL", "8");
  await first.running.stop();
  const { settings, live, logged } = await bootLamp({}, home);
  expect(await live.current()).toMatchObject({ colour: "white", level: 8, key: undefined });
  expect((await settings.list()).map(({ name }) => name)).toEqual(
    "LAMP_COLOUR LAMP_LEVEL LAMP_NAMES LAMP_URL LAMP_KEY".split(" "),
  );
  expect(await find(settings, "LAMP_COLOUR")).toMatchObject({
    ...{ value: "white", source: "default", problem: expect.stringContaining("LAMP_URL: got nothing") },
  });
  expect(await find(settings, "LAMP_KEY")).toMatchObject({ isSet: false, problem: expect.anything() });
  expect(logged.join()).toContain("the stored setting LAMP_COLOUR is ignored");
  // What it lacked makes it good.
  await settings.change({ LAMP_URL: "http://127.0.0.1:1/" }, "ann");
  expect(await live.current()).toMatchObject({ colour: "red", url: "http://127.0.0.1:1/" });
});

test("a stored secret goes only to the URL that it was stored for", async () => {
  const { settings, live } = await bootLamp();
  await settings.change({ LAMP_URL: "https://lamp.example/v1", LAMP_KEY: "the-key-of-the-lamp" }, "ann");
  const moved = { LAMP_URL: "https://elsewhere.example/v1" };
  // One after the other: a rejection that nobody waits for yet would end the run.
  for (const ask of [() => settings.change(moved, "ann"), () => settings.preview("lamp", readLamp, moved)])
    await expect(ask()).rejects.toThrow(
      "LAMP_KEY: got (hidden), expected the secret once more, because it was stored for https://lamp.example/v1",
    );
  expect(await live.current()).toMatchObject({ url: "https://lamp.example/v1" });
  expect(await settings.preview("lamp", readLamp, { ...moved, LAMP_KEY: "another-key" })).toMatchObject({
    ...{ url: "https://elsewhere.example/v1", key: "another-key" },
  });
  await settings.change({ ...moved, LAMP_KEY: "another-key" }, "ann");
  expect(await live.current()).toMatchObject({ url: "https://elsewhere.example/v1", key: "another-key" });
});

test("a secret of the environment never goes to a URL that is stored", async () => {
  const { settings } = await bootLamp({ LAMP_KEY: "the-key-of-the-lamp" });
  await expect(settings.change({ LAMP_URL: "https://elsewhere.example/" }, "ann")).rejects.toThrow(
    "a URL in the environment or .env, because LAMP_KEY is set there",
  );
});

test("what the environment lacks may be stored; where it is not, the start fails as ever", async () => {
  const home = temporaryFolder();
  const first = await bootLamp({}, home);
  await first.settings.change({ LAMP_URL: "http://127.0.0.1:1/" }, "ann");
  await first.running.stop();
  const { live, settings } = await bootLamp({ LAMP_COLOUR: "red" }, home);
  expect(await live.current()).toMatchObject({ colour: "red", url: "http://127.0.0.1:1/" });
  await expect(settings.change({ LAMP_URL: null }, "ann")).rejects.toThrow("LAMP_COLOUR is red");
  await expect(bootLamp({ LAMP_COLOUR: "red" })).rejects.toMatchObject({
    ...{ kind: "config", message: expect.stringContaining("LAMP_URL: got nothing, expected a URL") },
  });
  await expect(bootLamp({ LAMP_COLOUR: "red", LAMP_LEVEL: "x" })).rejects.toThrow(
    /LAMP_LEVEL: .*\n.*LAMP_URL: /,
  );
});

test("what another process on the store changes holds here at once", async () => {
  const { live, home } = await bootLamp();
  const beside = await bootKernel([store as AnyPlugin, lamp as AnyPlugin], {}, { home, only: ["settings"] });
  await beside.service("settings").change({ LAMP_LEVEL: "4" }, "operator");
  await expect.poll(async () => (await live.current()).level).toBe(4);
});
