/** F. What the home, the store and the token files promise. */
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { ROOT } from "../../kernel/package.ts";
import { attack } from "../support/attacks.ts";
import { temporaryFolder } from "../support/home.ts";
import { postern } from "../support/processes/postern.ts";
import { servePostern } from "../support/processes/served.ts";
import { describeWhere } from "../support/run/needs.ts";

const NOBODY = 65_534;

attack("F", "others on the machine can read no store and no token, whatever was opened before", async () => {
  const served = await servePostern();
  const files = ["webui-token", "store.sqlite", "store.sqlite-wal", "running.lock"];
  const modes = () => files.map((file) => (statSync(join(served.home, file)).mode & 0o777).toString(8));
  expect(modes()).toEqual(files.map(() => "600"));
  chmodSync(served.home, 0o755);
  for (const file of ["webui-token", "store.sqlite"]) chmodSync(join(served.home, file), 0o666);
  await served.restart();
  expect(modes()).toEqual(files.map(() => "600"));
  expect(statSync(served.home).mode & 0o777).toBe(0o700);
  expect(served.process.stderr()).toContain("webui-token could be read or changed by others");
});

const isRoot = process.getuid?.() === 0;

/** By users who own nothing on the way. */
function canBeEntered(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o005) === 0o005;
  return isOpen && (dirname(folder) === folder || canBeEntered(dirname(folder)));
}

describeWhere(isRoot, "root, to make files that belong to somebody else")("another's", () => {
  attack("F", "a home, settings or a token file of another user is refused before it is used", async () => {
    const cwd = temporaryFolder();
    chmodSync(cwd, 0o755);
    const home = join(cwd, "home");
    const loot = join(cwd, "loot");
    mkdirSync(home);
    writeFileSync(
      join(cwd, "x.mjs"),
      `import { writeFileSync } from "node:fs"; writeFileSync("${loot}", "ran");`,
    );
    writeFileSync(join(home, ".env"), `PLUGINS=${cwd}/x.mjs\n`);
    writeFileSync(join(home, "webui-token"), "a-token-that-somebody-else-knows\n");
    const run = () => postern(["doctor"], { env: { POSTERN_HOME: home }, cwd });
    const refused = { code: 78, stderr: expect.stringContaining("belongs to the user with the id 65534") };
    for (const path of [home, join(home, ".env")]) {
      chownSync(path, NOBODY, NOBODY);
      expect(await run()).toMatchObject(refused);
      chownSync(path, 0, 0);
    }
    writeFileSync(join(home, ".env"), "");
    chownSync(join(home, "webui-token"), NOBODY, NOBODY);
    expect(await postern(["serve"], { env: { POSTERN_HOME: home }, cwd })).toMatchObject(refused);
    expect(() => statSync(loot)).toThrow("ENOENT");
  });

  attack("F", "settings that another user put into the folder of the start are refused", async () => {
    const cwd = temporaryFolder();
    chmodSync(cwd, 0o1777);
    writeFileSync(join(cwd, ".env"), "GATEWAY_AUTH_TOKEN=a-token-that-somebody-else-knows\n");
    chownSync(join(cwd, ".env"), NOBODY, NOBODY);
    expect(await postern(["ask", "hello"], { env: { POSTERN_HOME: join(cwd, "home") }, cwd })).toMatchObject({
      code: 78,
      stderr: expect.stringContaining("belongs to the user with the id 65534"),
    });
  });
});

describeWhere(isRoot && canBeEntered(ROOT), "root, in a clone that other users can enter")(
  "an ordinary user",
  () => {
    attack("F", "an ordinary user works in a home of their own, and not in root's", async () => {
      const cwd = temporaryFolder();
      chmodSync(cwd, 0o755);
      mkdirSync(join(cwd, "mine"));
      mkdirSync(join(cwd, "roots"), { mode: 0o777 });
      chownSync(join(cwd, "mine"), NOBODY, NOBODY);
      const run = (home: string) =>
        postern(["user", "list"], { env: { POSTERN_HOME: join(cwd, home) }, cwd, uid: NOBODY });
      expect(await run("mine")).toMatchObject({ code: 0, stdout: expect.stringContaining("operator") });
      expect(await run("roots")).toMatchObject({
        code: 78,
        stderr: expect.stringContaining("Postern runs as 65534"),
      });
    });
  },
);
