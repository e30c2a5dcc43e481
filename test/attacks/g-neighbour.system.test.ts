/** Another account on the machine, which can write to the shared temporary folder. */
import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { temporaryFolder } from "../support/home.ts";
import { postern } from "../support/processes/postern.ts";

const compiled = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

attack(5, "Compiled code is never taken from a folder that others can write to", async () => {
  const [shared, user] = [temporaryFolder(), temporaryFolder()];
  const env = { TMPDIR: shared, HOME: user, POSTERN_HOME: join(user, "home"), NODE_COMPILE_CACHE: "" };
  const run = () => postern(["--version"], { env, alone: true });
  const own = join(user, ".cache", "postern");
  expect(await run()).toMatchObject({ code: 0 });
  expect(compiled(shared)).toEqual([]);
  expect(compiled(own)).toEqual(["node"]);

  const open = temporaryFolder();
  mkdirSync(join(open, "postern"));
  chmodSync(join(open, "postern"), 0o777);
  expect(await postern(["--version"], { env: { ...env, XDG_CACHE_HOME: open }, alone: true })).toMatchObject({
    code: 0,
  });
  expect(compiled(join(open, "postern"))).toEqual([]);
});
