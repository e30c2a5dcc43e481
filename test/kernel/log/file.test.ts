import {
  appendFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { followLog, readLog } from "../../../kernel/cli/operator/log-reader.ts";
import { logFiles, openLogFile } from "../../../kernel/log/file.ts";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import { temporaryFolder } from "../../support/home.ts";
import { afterThisTest } from "../../support/undo.ts";

/** A home whose log is open; files of at most so many bytes. */
function opened(largest?: number, home = temporaryFolder()) {
  const file = openLogFile(home, largest);
  afterThisTest(() => file.close());
  return { home, file, log: createLog("debug", createMask(), file) };
}

const messages = (lines: readonly string[]) => lines.map((line) => JSON.parse(line).message);

test("each line has level, time, plugin and message by name, with the turn, thread and user where there are any", () => {
  const { home, log } = opened();
  log.child("agent").warn({ turn: "t1", thread: "h1", user: "ann" }, "a turn failed");
  const [line = ""] = readLog(home, {});
  expect(JSON.parse(line)).toEqual({
    level: "warn",
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    plugin: "agent",
    turn: "t1",
    thread: "h1",
    user: "ann",
    message: "a turn failed",
  });
  expect(statSync(logFiles(home)[0]).mode & 0o777).toBe(0o600);
});

test("the files stay below their size, the oldest goes, and reading spans them", () => {
  const { home, log } = opened(2000);
  for (let at = 0; at < 200; at++) log.info(`line ${at}`);
  const files = logFiles(home);
  for (const file of files) expect(statSync(file).size).toBeLessThanOrEqual(2000);
  expect(existsSync(`${files[0]}.${files.length}`)).toBe(false);
  expect(messages(readLog(home, { last: 50 }))).toEqual(
    Array.from({ length: 50 }, (_, at) => `line ${at + 150}`),
  );
});

test("lines are found by level, turn, user and time; half a line of a killed process spoils none", () => {
  const home = temporaryFolder();
  mkdirSync(join(home, "logs"));
  const line = (fields: object) => `${JSON.stringify({ time: "2026-01-01T00:00:00.000Z", ...fields })}\n`;
  writeFileSync(
    logFiles(home)[0],
    line({ level: "error", message: "old" }) + line({ level: "debug", message: "quiet" }).slice(0, 30),
  );
  const { log } = opened(undefined, home);
  log.info({ turn: "t1", user: "ann" }, "first");
  log.error({ turn: "t2", user: "bob" }, "second");

  expect(messages(readLog(home, {}))).toEqual(["old", "first", "second"]);
  expect(messages(readLog(home, { level: "warn" }))).toEqual(["old", "second"]);
  expect(messages(readLog(home, { turn: "t1" }))).toEqual(["first"]);
  expect(messages(readLog(home, { user: "bob" }))).toEqual(["second"]);
  expect(messages(readLog(home, { since: new Date("2026-01-02") }))).toEqual(["first", "second"]);
  expect(messages(readLog(home, { last: 1 }))).toEqual(["second"]);
});

test("following shows what is there, then each new line once, across files that are replaced", async () => {
  const { home, log } = opened(1500);
  log.info("line 0");
  const seen: string[] = [];
  const stopper = new AbortController();
  const following = followLog(home, {}, (line) => seen.push(JSON.parse(line).message), stopper.signal);
  for (const burst of [0, 10, 20, 30]) {
    for (let at = 1; at <= 10; at++) log.info(`line ${burst + at}`);
    await expect.poll(() => seen.length).toBe(burst + 11);
  }
  stopper.abort();
  await following;
  expect(seen).toEqual(Array.from({ length: 41 }, (_, at) => `line ${at}`));
});

test("following waits for a log that is not there yet, and for the rest of a line", async () => {
  const home = temporaryFolder();
  const seen: string[] = [];
  const stopper = new AbortController();
  const following = followLog(home, {}, (line) => seen.push(JSON.parse(line).message), stopper.signal);
  const { log } = opened(undefined, home);
  log.info("first");
  await expect.poll(() => seen).toEqual(["first"]);
  const [file] = logFiles(home);
  const text = `${JSON.stringify({ level: "info", time: new Date().toISOString(), message: "second" })}\n`;
  appendFileSync(file, text.slice(0, 20));
  appendFileSync(file, text.slice(20));
  await expect.poll(() => seen).toEqual(["first", "second"]);
  stopper.abort();
  await following;
});

test("lines that cannot be written stop nothing, and how many were lost is written when it works again", () => {
  const { home, log, file } = opened();
  log.info("first");
  file.close();
  const [newest] = logFiles(home);
  renameSync(newest, `${newest}.aside`);
  mkdirSync(newest);
  log.info("lost");
  log.info("lost too");
  rmdirSync(newest);
  renameSync(`${newest}.aside`, newest);
  log.info("last");
  expect(messages(readLog(home, {}))).toEqual([
    "first",
    "2 log lines could not be written to this file",
    "last",
  ]);
});

test("a log that cannot be written at all refuses the start, in words", () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "logs"), "a file");
  expect(() => openLogFile(home)).toThrow(/logs.*cannot be written/);
});
