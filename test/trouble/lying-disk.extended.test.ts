/** A disk that says at one flush that it failed, and has then lost what was written: the next flush says nothing of that. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../support/clone.ts";
import { canLoop, failingDisk } from "../support/processes/disks.ts";
import { describeWhere } from "../support/run/needs.ts";

/** A process that writes to a store, so that it can be killed. */
async function startWriter(file: string) {
  const script = join(ROOT, "test/fixtures/processes/letters.ts");
  const child = spawn(process.execPath, [script, file], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const said = async () => (await lines.next()).value as string;
  expect(await said()).toBe("open");
  return {
    async write(number: number): Promise<string> {
      child.stdin.write(`${number}\n`);
      return said();
    },
    async kill(): Promise<void> {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

describeWhere(canLoop(), "root that may mount, and loop devices")("a disk that loses what it took", () => {
  test("what was acknowledged before and after the failure is on it, and it needs no restart", async () => {
    const disk = failingDisk();
    const file = join(disk.folder, "store.sqlite");
    const writer = await startWriter(file);
    const acknowledged: number[] = [];
    let number = 0;
    const write = async () => {
      const said = await writer.write(++number);
      if (said === "kept") acknowledged.push(number);
      return said;
    };
    for (let count = 0; count < 5; count++) expect(await write()).toBe("kept");
    disk.fail();
    // What the disk below had given to it before may still be written.
    await expect.poll(write).toBe("store_io");
    for (let count = 0; count < 5; count++) await write();
    disk.mend();
    await expect.poll(write).toBe("kept");
    for (let count = 0; count < 5; count++) expect(await write()).toBe("kept");
    // As if the power went now: what only the system's memory held is gone.
    await writer.kill();
    disk.replug();
    const found = new DatabaseSync(file).prepare("SELECT number FROM letters").all();
    expect(found.map((row) => row["number"])).toEqual(expect.arrayContaining(acknowledged));
  });
});
