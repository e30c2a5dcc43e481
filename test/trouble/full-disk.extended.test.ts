/** A service whose home is on a disk that fills up. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { serveUnderAttack } from "../support/processes/attacked.ts";
import { canMount, smallDisk } from "../support/processes/disks.ts";
import { describeWhere } from "../support/run/needs.ts";
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
    expect((await send("GET", "/api/threads")).status).toBe(200);
    await served.process.printed(`the disk is full: the store ${env.POSTERN_HOME}`);
    disk.free();
    await expect.poll(submit).toBe("kept");
    const chat = await send("POST", "/api/chat", { message });
    expect(chat.json).toMatchObject({ status: "completed", response: "Answered." });
    await served.restart("SIGKILL");
    for (const id of acknowledged)
      await expect.poll(async () => (await webhook.get(`/jobs/${id}`)).json.status).toBe("completed");
  });
});
