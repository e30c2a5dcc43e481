/** A service that is killed in the middle of a write leaves the old content or the new, and a version for each. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createWorkspace } from "../../../plugins/workspace/workspace.ts";
import { ROOT } from "../../support/clone.ts";
import { temporaryFolder } from "../../support/home.ts";
import { describeEngines } from "../../support/processes/engines.ts";
import { afterThisTest } from "../../support/undo.ts";

const WRITER = join(ROOT, "test/fixtures/processes/workspace-writer.ts");
const KILLS = 6;

/** Lets it write a few times, and kills it at some moment of the next. Returns the last that it said was written. */
async function killWriting(url: string, path: string, round: number): Promise<number> {
  const child = spawn(process.execPath, [WRITER, url, path, String(round)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  afterThisTest(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  let said = "";
  child.stdout.setEncoding("utf8");
  for await (const text of child.stdout) {
    said += text;
    if (said.split("\n").length < 3) continue;
    await sleep(Math.random() * 60);
    child.kill("SIGKILL");
  }
  await ended;
  return Number(said.trim().split("\n").at(-1));
}

describeEngines("a workspace whose writer is killed", (_engine, fresh) => {
  for (const where of ["in the store", "below a mount"])
    test(`${where}: what was written last is whole, and so is every version`, async () => {
      const place = await fresh();
      const workspace = await createWorkspace({
        store: await place.open(),
        maxMb: 5000,
        home: import.meta.dirname,
      });
      afterThisTest(workspace.close);
      const folder = temporaryFolder();
      if (where === "below a mount")
        await workspace.mount({
          name: "notes",
          folder,
          isEverybodys: true,
          isWritable: true,
        });
      const path = where === "below a mount" ? "/notes/deep/a.txt" : "/deep/a.txt";
      for (let round = 1; round <= KILLS; round++) {
        const acknowledged = await killWriting(place.url, path, round);
        // As a service does when it starts.
        await workspace.removeLeftovers();
        expect(readdirSync(folder, { recursive: true }).filter((name) => name.includes(".postern-"))).toEqual(
          [],
        );
        const found = await workspace.read("ann", path);
        const text = Buffer.from(found?.data ?? []).toString();
        const line = text.slice(0, text.indexOf("\n") + 1);
        expect(text === line.repeat(200_000)).toBe(true);
        const [inRound, count] = line.trim().split("-").map(Number);
        expect(inRound).toBe(round);
        // What it said was written is there, or the one that was under way.
        expect([acknowledged, acknowledged + 1]).toContain(count);
        expect(found?.entry.digest).toBe(createHash("sha256").update(text).digest("hex"));
        const [last, before] = await workspace.versions("ann", path);
        // The change is the turn's own, also where nobody could note it before the kill.
        expect(last).toMatchObject({ writer: { kind: "model", turn: line.trim() } });
        expect(last?.version).toBe(found?.entry.version);
        const earlier = await workspace.read("ann", path, { version: before?.version });
        expect(earlier?.data.byteLength).toBe(before?.bytes);
      }
      // It can go on: the last turn is taken back.
      const [newest] = (await workspace.log("ann")).items;
      const undone = await workspace.undo("ann", newest?.id ?? "", { writer: { kind: "cli" } });
      expect(undone.conflicts).toEqual([]);
    });
});
