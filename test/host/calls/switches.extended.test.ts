/** A tool that keeps taking its process down is switched off, until somebody switches it on again. */
import { expect, onTestFinished, test, vi } from "vitest";
import type { ServiceHost } from "../../../host/service-host.ts";
import { childrenBytes } from "../../support/processes/children.ts";
import { postern } from "../../support/processes/postern.ts";
import { openUpstream } from "../../support/servers/upstream.ts";
import { fixture } from "../../support/tools/components.ts";
import {
  allowing,
  bombIn,
  install,
  installProber,
  NOTHING,
  switchOff,
  toolHost,
} from "../../support/tools/tool-host.ts";

const OFF = /^bomb is switched off\. It took its process down 3 times within ten minutes; the last time /;

const call = { id: "c", name: "bomb", params: "{}" };

const installBomb = async (host: ServiceHost, name = "bomb") => install(host, name, await bombIn(0), NOTHING);

async function codeOf(host: ServiceHost): Promise<string> {
  const { outcome } = await host.run(call, { user: "ada" });
  return outcome.status === "error" ? outcome.code : outcome.status;
}

test("the third death switches a tool off, over a restart too, and its calls start no process", async () => {
  const host = await toolHost();
  await installBomb(host);
  for (let time = 0; time < 3; time++) expect(await codeOf(host)).toBe("out_of_memory");
  await expect.poll(() => host.logged.at(-1)).toMatch(/Switch it on again: postern tool enable bomb"/);
  expect(host.logged.filter((line) => line.includes("the process of bomb died"))).toHaveLength(3);

  await host.close();
  await expect.poll(() => childrenBytes().size).toBe(0);
  const again = await toolHost({}, host.home);
  await again.warmUp();
  const { outcome, receipt } = await again.run(call, { user: "ada" });
  expect(outcome).toMatchObject({ code: "switched_off", message: expect.stringMatching(OFF) });
  expect(receipt).toMatchObject({ tool: "bomb", code: "switched_off", memoryPeak: 0 });
  expect(await again.refusal(call, "ada")).toMatchObject({ code: "switched_off" });
  expect(childrenBytes().size).toBe(0);
});

test("a process that dies with several calls in it has died once", async () => {
  const silent = await openUpstream(() => {});
  onTestFinished(() => silent.close());
  const host = await toolHost({ privateHosts: new Set([`127.0.0.1:${silent.port}`]) });
  await installProber(host, allowing("127.0.0.1"));
  const params = JSON.stringify({ url: `http://127.0.0.1:${silent.port}/v1/x` });
  const probe = () => host.run({ id: "c", name: "prober", params }, { user: "ada" });
  const calls = [probe(), probe(), probe()];
  await expect.poll(() => silent.requests.length).toBe(3);
  for (const pid of childrenBytes().keys()) process.kill(pid, "SIGKILL");
  for (const { outcome } of await Promise.all(calls)) expect(outcome).toMatchObject({ code: "worker_lost" });
  const deaths = () => host.logged.filter((line) => line.includes("the process of prober died"));
  await expect.poll(deaths).toHaveLength(1);
  const next = await host.run({ id: "c", name: "prober", params: "{}" }, { user: "ada" });
  expect(next.outcome).toMatchObject({ status: "ok" });
  expect(deaths()).toHaveLength(1);
});

test("what is switched off is one component under one name, until it is removed", async () => {
  const host = await toolHost();
  const bomb = await installBomb(host);
  const twin = await installBomb(host, "twin");
  expect(await host.switches.off(twin)).toBeUndefined();
  await switchOff(host, bomb);
  expect(await host.switches.off(bomb)).toMatchObject({ digest: bomb.digest });
  expect(await host.switches.off(twin)).toBeUndefined();

  const other = await install(host, "bomb", await fixture("prober.js"), NOTHING);
  expect(await host.switches.off(other)).toBeUndefined();
  const back = await installBomb(host);
  expect(await host.switches.off(back)).toBeDefined();
  expect(await host.remove("bomb")).toBe(true);
  expect(await host.switches.off(await installBomb(host))).toBeUndefined();
});

test("deaths that are further apart, or before a removal, do not add up", async () => {
  const host = await toolHost();
  const bomb = await installBomb(host);
  const die = () => host.switches.died(bomb, "it was ended by SIGKILL");
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    await die();
    await die();
    vi.setSystemTime(Date.now() + 10 * 60_000);
    await die();
    expect(await host.switches.off(bomb)).toBeUndefined();
    await host.remove("bomb");
    await installBomb(host);
    await die();
    await die();
    expect(await host.switches.off(bomb)).toBeUndefined();
    await die();
    expect(await host.switches.off(bomb)).toBeDefined();
  } finally {
    vi.useRealTimers();
  }
});

test("the commands show a tool that is off and switch it on, also for a service that runs", async () => {
  const host = await toolHost();
  await switchOff(host, await installBomb(host));
  const tool = async (...args: string[]) => {
    const { code, stdout, stderr } = await postern(["tool", ...args], { env: { POSTERN_HOME: host.home } });
    expect(code, stderr).toBe(0);
    return stdout;
  };
  const off = { at: expect.stringMatching(/Z$/), why: expect.stringContaining("SIGKILL") };
  expect(await tool("list")).toMatch(/^bomb +switched off +It took its process down 3 times/m);
  expect(JSON.parse(await tool("list", "--json")).tools).toMatchObject([{ name: "bomb", switched_off: off }]);
  expect(await tool("info", "bomb")).toMatch(/^switched off +.*SIGKILL\. .*postern tool enable bomb$/m);
  expect(JSON.parse(await tool("info", "bomb", "--json"))).toMatchObject({ switched_off: off });
  const doctor = await postern(["doctor"], { env: { POSTERN_HOME: host.home } });
  expect(doctor.stdout).toMatch(/FAIL +tool bomb +switched off since .*postern tool enable bomb/);
  expect(await tool("enable", "bomb")).toBe("Switched bomb on.\n");
  expect(JSON.parse(await tool("enable", "bomb", "--json"))).toEqual({ name: "bomb", enabled: false });
  expect(JSON.parse(await tool("info", "bomb", "--json"))).toMatchObject({ switched_off: null });
  expect(await codeOf(host)).toBe("out_of_memory");
});
