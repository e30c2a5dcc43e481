/** A service whose disk stands still for a while, is read-only when it starts, or whose memory has an end. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serveUnderAttack } from "../support/processes/attacked.ts";
import { canLoop, failingDisk } from "../support/processes/disks.ts";
import { postern } from "../support/processes/postern.ts";
import { describeWhere } from "../support/run/needs.ts";
import { afterThisTest } from "../support/undo.ts";

const PRLIMIT = "/usr/bin/prlimit";
const FREEZE = "/usr/sbin/fsfreeze";

async function serveAndSubmit(env: Readonly<Record<string, string>> = {}) {
  const attacked = await serveUnderAttack(afterThisTest, env);
  attacked.served.model.otherwise({ text: "Answered." });
  const acknowledged: string[] = [];
  return {
    ...attacked,
    async submit(): Promise<number> {
      const { status, json } = await attacked.webhook.post({ user_id: "ann", message: "hello" });
      if (status === 200) acknowledged.push(json.job_id);
      return status;
    },
    async expectAllDone(): Promise<void> {
      for (const id of acknowledged)
        await expect
          .poll(async () => (await attacked.webhook.get(`/jobs/${id}`)).json.status)
          .toBe("completed");
    },
  };
}

describeWhere(canLoop() && existsSync(FREEZE), "root that may mount, loop devices and fsfreeze")(
  "a disk that stands still, and one that is read-only",
  () => {
    test("who writes meanwhile is answered when it moves again, and a read-only one is said at the start", async () => {
      const disk = failingDisk();
      const home = join(disk.folder, "home");
      const { served, submit, expectAllDone } = await serveAndSubmit({ POSTERN_HOME: home });
      expect(await submit()).toBe(200);
      execFileSync(FREEZE, ["--freeze", disk.folder]);
      const waiting = submit();
      execFileSync(FREEZE, ["--unfreeze", disk.folder]);
      expect(await waiting).toBe(200);
      served.process.kill("SIGKILL");
      await served.process.ended;
      execFileSync("mount", ["-o", "remount,ro", disk.folder]);
      const { code, stderr } = await postern(["serve"], { env: { POSTERN_HOME: home } });
      expect(code).toBe(78);
      expect(stderr).toMatch(/read-only|cannot be written/);
      execFileSync("mount", ["-o", "remount,rw", disk.folder]);
      await served.restart("SIGKILL");
      await expectAllDone();
    });
  },
);

describeWhere(existsSync(PRLIMIT), "prlimit, of util-linux")("memory at its limit", () => {
  test("whether it is refused or ends the service, nothing that was acknowledged is lost", async () => {
    const { served, submit, expectAllDone } = await serveAndSubmit();
    expect(await submit()).toBe(200);
    const { pid, ended } = served.process;
    const [, pages = "0"] = /VmSize:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    execFileSync(PRLIMIT, ["--pid", String(pid), `--as=${Number(pages) * 1024}`]);
    const work = async () => {
      for (let count = 0; count < 20; count++) await submit().catch(() => undefined);
    };
    await Promise.race([work(), ended]);
    await served.restart("SIGKILL");
    await expectAllDone();
  });
});
