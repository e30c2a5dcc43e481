import { expect, test } from "vitest";
import { postern, startPostern } from "../support/processes/postern.ts";
import { workplace } from "../support/tools/workplace.ts";

test("status lists a tool that was installed since the start, and one that was removed no more", async () => {
  const { env, cwd, tool, install } = await workplace();
  const service = startPostern(["serve"], { env, cwd });
  await service.printed("ready in");
  const status = async () => (await postern(["status"], { env, cwd })).stdout;
  expect(await status()).toMatch(/tools\s+on\s+none installed\n/);
  expect((await install()).code).toBe(0);
  expect(await status()).toMatch(/tools\s+on\s+prober\n/);
  const { plugins } = JSON.parse((await postern(["status", "--json"], { env, cwd })).stdout);
  expect(plugins).toContainEqual(expect.objectContaining({ name: "tools", on: true, detail: "prober" }));
  await tool("remove", "prober");
  expect(await status()).toMatch(/tools\s+on\s+none installed\n/);
});
