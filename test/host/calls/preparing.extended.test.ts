/** A call whose tool's code has to be made again says so while it waits. */
import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { allowing, installProber, toolHost } from "../../support/tools/tool-host.ts";

test("a call tells when it begins to wait for its tool and when that is over, and the next one waits for nothing", async () => {
  const host = await toolHost();
  await installProber(host, allowing("127.0.0.1"));
  await host.close();
  rmSync(host.code.folder, { recursive: true });
  const again = await toolHost({}, host.home);
  const told: boolean[] = [];
  const run = () =>
    again.run(
      { id: "c", name: "prober", params: "{}" },
      { user: "ada", onPreparing: (isPreparing) => void told.push(isPreparing) },
    );
  expect((await run()).outcome).toMatchObject({ status: "ok" });
  expect(told).toEqual([true, false]);
  expect((await run()).outcome).toMatchObject({ status: "ok" });
  expect(told).toEqual([true, false]);
});
