/** Commands that fork, do not end, flood, fall silent or die: each costs its own calls and nothing else. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ServiceHost } from "../../../host/service-host.ts";
import { temporaryFolder } from "../../support/home.ts";
import { toolHost } from "../../support/tools/tool-host.ts";

const SCRIPT = fileURLToPath(new URL("../../fixtures/mcp/hostile-command.js", import.meta.url));
const OPERATOR = { user: "operator", agree: true };
const CALL = { id: "c", name: "near_it", params: "{}" };
const ADA = { user: "ada" };

const add = (host: ServiceHost, mode: string, file = "") =>
  host.foreign.servers.add({ name: "near", command: [process.execPath, SCRIPT, mode, file] }, OPERATOR);

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

const pidsIn = (file: string) => readFileSync(file, "utf8").trim().split("\n").map(Number);

test.each(["stubborn", "forks"])(
  "a command that %s ends with the service, and so does what it started",
  async (mode) => {
    const host = await toolHost();
    const file = join(temporaryFolder(), "pids");
    await add(host, mode, file);
    expect((await host.call(CALL, ADA)).outcome).toMatchObject({ status: "ok", output: "done" });
    const pids = pidsIn(file);
    expect(pids.every(isAlive)).toBe(true);
    await host.close();
    await expect.poll(() => pids.filter(isAlive)).toEqual([]);
  },
);

test("a command ends with a service that is killed, and so does what it started", async () => {
  const file = join(temporaryFolder(), "pids");
  const script = fileURLToPath(new URL("../../fixtures/mcp/killed-host.ts", import.meta.url));
  const service = spawn(process.execPath, [script, process.execPath, SCRIPT, "forks", file], {
    stdio: "ignore",
  });
  await expect.poll(() => (existsSync(file) ? pidsIn(file).length : 0)).toBe(2);
  const pids = pidsIn(file);
  expect(pids.every(isAlive)).toBe(true);
  service.kill("SIGKILL");
  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
});

test("a command that floods stderr is heard of, line by line, and not for long", async () => {
  const host = await toolHost({}, undefined, undefined, "info");
  await add(host, "stderr");
  expect((await host.call(CALL, ADA)).outcome).toMatchObject({ status: "ok", output: "done" });
  const lines = () => host.logged.filter((line) => line.includes("near: noise"));
  await expect.poll(() => lines().length).toBeGreaterThan(100);
  expect(lines().length).toBeLessThanOrEqual(240);
  for (const line of lines()) expect(line.length).toBeLessThan(1500);
});

test.each([
  ["huge", /sent a message of more than 4194304 bytes/],
  ["flood", /wrote 1000 lines to stdout that are no messages/],
  ["crash", /it ended with code 1/],
])("a command whose answer is %s costs that call", async (mode, why) => {
  const host = await toolHost();
  await add(host, mode);
  const { outcome } = await host.call(CALL, ADA);
  expect(outcome).toMatchObject({
    status: "error",
    code: "unavailable",
    message: expect.stringMatching(why),
  });
  const shown = await host.foreign.servers.find("near", "operator");
  expect(shown).toMatchObject({ status: "unreachable", detail: expect.stringMatching(why) });
  const troubles = [expect.stringMatching(/^MCP server near is unreachable since /)];
  await expect.poll(() => host.foreign.troubles()).toEqual(troubles);
  // It is started again where somebody asks for it.
  expect(await host.foreign.servers.test("near", "operator")).toMatchObject({ status: "connected" });
  await expect.poll(() => host.foreign.troubles()).toEqual([]);
});

test("half a message is waited for until the call's time is up, or it is cancelled", async () => {
  const host = await toolHost();
  const file = join(temporaryFolder(), "called");
  await add(host, "half", file);
  const { servers } = host.foreign;
  const stop = new AbortController();
  const cancelled = host.call(CALL, { ...ADA, signal: stop.signal });
  await expect.poll(() => existsSync(file)).toBe(true);
  stop.abort();
  expect((await cancelled).outcome).toMatchObject({ code: "cancelled" });
  const settings = JSON.parse(await servers.file("near"));
  await servers.edit("near", JSON.stringify({ ...settings, limits: { timeout_secs: 5 } }));
  expect((await host.call(CALL, ADA)).outcome).toMatchObject({
    code: "timeout",
    message: "near gave no complete answer within 5 seconds.",
  });
});

test("a command that dies at once is not added, and is started twice: for each revision", async () => {
  const host = await toolHost();
  const file = join(temporaryFolder(), "starts");
  await expect(add(host, "dies", file)).rejects.toThrow(
    /near cannot be used: The command is over: it ended with code 3/,
  );
  expect(readFileSync(file, "utf8")).toBe("started\nstarted\n");
  expect(await host.foreign.servers.list("operator")).toEqual([]);
});

test("a command that is not there is named", async () => {
  const host = await toolHost({ path: "/usr/bin" });
  const adding = host.foreign.servers.add({ name: "near", command: ["no-such-command"] }, OPERATOR);
  await expect(adding).rejects.toThrow(
    "near cannot be used: The command no-such-command does not exist, or may not be run.",
  );
});
