/** B. Nobody in by the side door. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { temporaryFolder } from "../support/home.ts";
import { serveUnderAttack } from "../support/processes/attacked.ts";
import { postern } from "../support/processes/postern.ts";
import { startIdentityProvider } from "../support/servers/identity-provider.ts";
import { afterThisFile } from "../support/undo.ts";

const later = afterThisFile();
const provider = await startIdentityProvider(later);
const { send, run } = await serveUnderAttack(later, {
  OIDC_ISSUER: provider.issuer,
  OIDC_AUDIENCE: "postern",
});

attack(4, "a stranger's folder cannot make a command run its code or keep its store elsewhere", async () => {
  const cwd = temporaryFolder();
  const home = join(cwd, "home");
  const loot = join(cwd, "loot");
  writeFileSync(
    join(cwd, "x.mjs"),
    `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(loot)}, "ran");`,
  );
  writeFileSync(
    join(cwd, ".env"),
    `PLUGINS=./x.mjs\nSTORE_URL=sqlite://${cwd}/theirs.sqlite\nPOSTERN_HOME=${cwd}/theirs\nLOG_LEVEL=loud\n`,
  );
  writeFileSync(join(cwd, "tool.wasm"), "not a component");
  const env = { POSTERN_HOME: home, GATEWAY_ENABLED: "false", MODEL_PROVIDER: "builtin" };
  const commands = [
    ["tool", "check", "tool.wasm"],
    ["tool", "list"],
    ["doctor"],
    ["config"],
    ["user", "list"],
  ];
  for (const command of commands) {
    const { stdout, stderr } = await postern(command, { env, cwd });
    // Not even its harmless settings count: "loud" is none of the log's levels.
    expect(`${stdout}${stderr}`).not.toMatch(/loud|x\.mjs/);
  }
  // Where the service starts the file counts, but not for what runs code or moves the data.
  writeFileSync(
    join(cwd, ".env"),
    `PLUGINS=./x.mjs\nSTORE_URL=sqlite://${cwd}/theirs.sqlite\nPOSTERN_HOME=${cwd}/theirs\n`,
  );
  const { code, stdout, stderr } = await postern(["ask", "What is 12 * 12?"], { env, cwd });
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("144") });
  for (const name of ["PLUGINS", "STORE_URL", "POSTERN_HOME"])
    expect(stderr).toContain(`${name} in ${join(cwd, ".env")} is ignored`);
  for (const file of ["loot", "theirs", "theirs.sqlite"]) expect(existsSync(join(cwd, file))).toBe(false);
});

attack(4, "a package in a stranger's node_modules is not taken for a plugin of the home", async () => {
  const cwd = temporaryFolder();
  const home = temporaryFolder();
  writeFileSync(join(home, ".env"), "PLUGINS=postern-mine\n");
  mkdirSync(join(cwd, "node_modules/postern-mine"), { recursive: true });
  writeFileSync(
    join(cwd, "node_modules/postern-mine/index.js"),
    `require("node:fs").writeFileSync(${JSON.stringify(join(cwd, "loot"))}, "ran");`,
  );
  const { stderr } = await postern(["doctor"], {
    env: { POSTERN_HOME: home, MODEL_PROVIDER: "builtin" },
    cwd,
  });
  expect(stderr).toContain(`a package installed in ${home}`);
  expect(existsSync(join(cwd, "loot"))).toBe(false);
});

attack(5, "whoever claims the operator's e-mail address unverified is somebody else", async () => {
  await run("user", "add", "boss@corp.com", "--role", "operator");
  const email = "boss@corp.com";
  for (const email_verified of [undefined, "false", 0, null]) {
    const token = await provider.sign({ sub: "attacker", email, email_verified });
    expect((await send("GET", "/api/session", undefined, token)).json.user).toEqual({
      id: "oidc:attacker",
      role: "user",
    });
    expect((await send("GET", "/api/users", undefined, token)).status).toBe(403);
  }
  const boss = await provider.sign({ sub: "the-boss", email, email_verified: true });
  expect((await send("GET", "/api/users", undefined, boss)).status).toBe(200);
  const successor = await provider.sign({ sub: "attacker-2", email, email_verified: true });
  expect((await send("GET", "/api/users", undefined, successor)).status).toBe(403);
});
