/** One user's long texts must not hold up everybody else. */
import { setImmediate } from "node:timers/promises";
import { expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { openGateway } from "../support/services/gateway.ts";
import { openMemory } from "../support/services/memory.ts";
import { byPerson, openWorkspace } from "../support/services/workspace.ts";

const LENGTH = 250_000;
const numbers = (factor: number): number[] =>
  Array.from({ length: 20_000 }, (_, at) => (at * factor) % 100_003);

/** Which part of the CPU time of this process its main thread took. */
async function shareOfMainThread(work: () => Promise<void>): Promise<number> {
  const sum = ({ user, system }: NodeJS.CpuUsage) => user + system;
  const [all, main] = [process.cpuUsage(), process.threadCpuUsage()];
  await work();
  return sum(process.threadCpuUsage(main)) / sum(process.cpuUsage(all));
}

attack("I", "Two long texts are not compared on the thread that answers everybody", async () => {
  const gateway = await openGateway();
  const token = await gateway.addUser("eve");
  const place = `${gateway.url}/api/workspace/file?path=/long.txt`;
  for (const factor of [7919, 104_729]) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/octet-stream" };
    const body = numbers(factor).join("\n").slice(0, LENGTH);
    expect((await fetch(place, { method: "PUT", headers, body })).status).toBe(200);
  }
  const compare = async () => {
    const { status, body } = await gateway.ask("/api/workspace/diff?path=/long.txt&from=1&to=2", { token });
    expect([status, body.problem ?? null]).toEqual([200, null]);
  };
  await compare();
  const share = await shareOfMainThread(async () => {
    for (let round = 0; round < 5; round++) await compare();
  });
  expect(share).toBeLessThan(0.5);
});

attack("I", "Files that one user writes at once do not all come before another's", async () => {
  const { workspace } = await openWorkspace();
  const done: string[] = [];
  const write = async (user: string, path: string, data: Buffer) => {
    await workspace.apply(user, [{ op: "write", path, data }], byPerson);
    done.push(path);
  };
  const all = Array.from({ length: 6 }, (_, at) => write("eve", `/long-${at}`, Buffer.alloc(LENGTH, at)));
  await Promise.all([...all, write("ann", "/short", Buffer.from("A note"))]);
  expect(done.indexOf("/short")).toBeLessThan(3);
});

attack("I", "A memory document of very many words is not indexed at a stretch", async () => {
  const { memory } = await openMemory();
  const done: string[] = [];
  const words = Array.from({ length: 40_000 }, (_, at) => at.toString(36)).join(" ");
  const long = memory.write("eve", "long.md", words).then(() => done.push("long"));
  while ((await memory.read("eve", "long.md")) === undefined) await setImmediate();
  await memory.write("ann", "short.md", "A note").then(() => done.push("short"));
  await long;
  expect(done).toEqual(["short", "long"]);
});

attack("I", "Long memory documents of one user do not all come before another's short one", async () => {
  const gateway = await openGateway();
  const [eve, ann] = [await gateway.addUser("eve"), await gateway.addUser("ann")];
  const done: string[] = [];
  const write = async (token: string, name: string, text: string) => {
    const path = `/api/memory/file?path=${name}.md`;
    const { status } = await gateway.ask(path, { method: "PUT", token, body: { text } });
    expect(status).toBe(200);
    done.push(name);
  };
  const long = numbers(7919)
    .map((one) => `w${one.toString(36)}`)
    .join(" ");
  const all = Array.from({ length: 6 }, (_, at) => write(eve, `long-${at}`, `${at} ${long}`));
  await Promise.all([...all, write(ann, "short", "A note")]);
  expect(done.indexOf("short")).toBeLessThan(3);
});
