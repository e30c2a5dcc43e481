/** A service whose home is on a disk that fills up. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serveUnderAttack } from "../support/processes/attacked.ts";
import { canMount, smallDisk } from "../support/processes/disks.ts";
import { postern } from "../support/processes/postern.ts";
import { describeWhere } from "../support/run/needs.ts";
import { freePort } from "../support/servers/port.ts";
import { afterThisTest } from "../support/undo.ts";

describeWhere(canMount(), "root that may mount")("a full disk", () => {
  test("is said in words, loses nothing that was acknowledged, and is over when there is room", async () => {
    const disk = smallDisk("64m");
    const env = { POSTERN_HOME: join(disk.folder, "home") };
    const { served, webhook, send } = await serveUnderAttack(afterThisTest, env);
    served.model.otherwise({ text: "Answered." });
    const acknowledged: string[] = [];
    const submit = async () => {
      const { status, json } = await webhook.post({ user_id: "ann", message: "x".repeat(20_000) });
      if (status === 200) acknowledged.push(json.job_id);
      return status === 200 ? "kept" : json.error;
    };
    for (let count = 0; count < 3; count++) expect(await submit()).toBe("kept");
    disk.fill();
    const refusal = {
      code: "store_full",
      // Where it is on the machine is no caller's business.
      message:
        "the disk is full: the store store.sqlite could not be written. Free some space; what was acknowledged before is safe",
      param: null,
    };
    // There may be room left in what SQLite has taken already.
    await expect.poll(submit).toMatchObject(refusal);
    const message = "x".repeat(20_000);
    await expect
      .poll(() => send("POST", "/api/chat", { message }))
      .toMatchObject({ status: 503, json: { error: refusal } });
    expect((await send("GET", "/health")).status).toBe(200);
    expect(await send("GET", "/ready")).toMatchObject({ status: 503, json: { ready: false } });
    expect((await send("GET", "/api/threads")).status).toBe(200);
    await served.process.printed(`the disk is full: the store ${env.POSTERN_HOME}`);
    disk.free();
    await expect.poll(submit).toBe("kept");
    expect((await send("GET", "/ready")).status).toBe(200);
    const chat = await send("POST", "/api/chat", { message });
    expect(chat.json).toMatchObject({ status: "completed", response: "Answered." });
    await served.restart("SIGKILL");
    for (const id of acknowledged)
      await expect.poll(async () => (await webhook.get(`/jobs/${id}`)).json.status).toBe("completed");
  });

  test("is what doctor, a start and a command call it, and not a damaged store or another Postern", async () => {
    const disk = smallDisk("24m");
    const home = join(disk.folder, "home");
    const env = { POSTERN_HOME: home, GATEWAY_PORT: String(await freePort()), MODEL_PROVIDER: "builtin" };
    const run = (...args: string[]) => postern(args, { env, cwd: disk.folder, alone: true });
    expect((await run("user", "add", "ann")).code).toBe(0);
    const findings = async () => {
      const { stdout } = await run("doctor", "--json");
      const all = (JSON.parse(stdout) as { findings: { name: string }[] }).findings;
      return new Map(all.map((finding) => [finding.name, finding]));
    };
    const empty = await findings();
    expect(empty.get("store size")).not.toHaveProperty("warning");
    expect(empty.get("home")).toMatchObject({ ok: false, detail: expect.stringMatching(/^\d+ MB are left/) });
    disk.fill();
    const full = await findings();
    expect(full.get("store")).toMatchObject({ ok: true, detail: `${join(home, "store.sqlite")} is intact` });
    expect(full.get("service")).toMatchObject({ detail: "not running" });
    expect(full.get("store size")).toMatchObject({ detail: expect.stringContaining("nearly full") });
    expect(await run("serve")).toMatchObject({
      code: 78,
      stderr: expect.stringContaining("database or disk is full"),
    });
    expect(await run("user", "add", "bob")).toMatchObject({
      stderr: expect.stringContaining("the disk is full: the store"),
    });
    // What is in the log of a service that was killed cannot be read without room for an index of it.
    writeFileSync(join(home, "store.sqlite-wal"), "");
    disk.readOnly();
    expect((await findings()).get("store")).toMatchObject({ detail: expect.not.stringContaining("damaged") });
  });
});
