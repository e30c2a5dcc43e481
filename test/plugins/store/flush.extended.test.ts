import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { temporaryFolder } from "../../support/home.ts";
import { type Attacked, serveUnderAttack } from "../../support/processes/attacked.ts";
import { describeWhere } from "../../support/run/needs.ts";
import { afterThisFile } from "../../support/undo.ts";

const STRACE = "/usr/bin/strace";

/** What the process did to its store's log and to its sockets, in order. */
async function watch(pid: number) {
  const file = join(temporaryFolder(), "calls");
  const calls = "trace=fdatasync,fsync,pwrite64,write,writev";
  const strace = spawn(STRACE, ["-f", "-p", String(pid), "-o", file, "-y", "-s", "100000", "-e", calls]);
  onTestFinished(() => void strace.kill("SIGKILL"));
  await once(strace.stderr, "data");
  const lines = () => readFileSync(file, "utf8").split("\n");
  return {
    lines,
    async stop(): Promise<readonly string[]> {
      strace.kill("SIGINT");
      await once(strace, "exit");
      return lines();
    },
  };
}

const writes = (word: string) => (line: string) =>
  /pwrite64\(\d+<[^>]*-wal>/.test(line) && line.includes(word);
const flushes = (line: string) => /fdatasync\(\d+<[^>]*-wal>/.test(line);
const answers = (line: string) => /writev?\(\d+<[^>]*socket:/.test(line) && /HTTP\/1\.1 20[02]/.test(line);

/** The flush that holds the word comes before the answer. */
function expectFlushedFirst(lines: readonly string[], word: string): void {
  const answered = lines.findIndex(answers);
  const before = lines.slice(0, answered);
  const written = before.findLastIndex(writes(word));
  const flushed = before.findLastIndex(flushes);
  expect({ answered: answered > 0, written: written >= 0, flushed: flushed > written }).toEqual({
    answered: true,
    written: true,
    flushed: true,
  });
}

describeWhere(existsSync(STRACE), "strace")("no answer leaves before the flush that holds it", () => {
  const later = afterThisFile();
  let attacked: Attacked;
  beforeAll(async () => {
    attacked = await serveUnderAttack(later);
  });

  test.each([
    ["a webhook's 202", (word: string) => attacked.webhook.post({ user_id: "ann", message: word })],
    ["a chat's 202", (word: string) => attacked.send("POST", "/api/chat/send", { message: word })],
    [
      "a response's 200",
      (word: string) => attacked.send("POST", "/v1/responses", { model: "m", input: word }),
    ],
  ])("%s", async (_, send) => {
    const word = `marker${process.hrtime.bigint()}`;
    const watched = await watch(attacked.served.process.pid);
    const { status } = await send(word);
    expect([200, 202]).toContain(status);
    expectFlushedFirst(await watched.stop(), word);
  });

  test("what nobody waits for is flushed a moment later, and is committed before that", async () => {
    const store = openStore(join(temporaryFolder(), "store.sqlite"));
    onTestFinished(() => store.close());
    const sql = await store.tables("test", ["CREATE TABLE words (word TEXT)"]);
    const watched = await watch(process.pid);
    const insert = "INSERT INTO words (word) VALUES (?)";
    await sql.transaction((tx) => tx.run(insert, "unhurried"), { flush: false });
    expect(watched.lines().some(writes("unhurried"))).toBe(true);
    await expect.poll(() => watched.lines().some(flushes)).toBe(true);
    await watched.stop();
  });
});
