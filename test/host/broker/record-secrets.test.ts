/** What `--record` keeps, looked through for every secret that was near. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { openUpstream } from "../../support/servers/upstream.ts";
import { copyCode, fixture } from "../../support/tools/components.ts";
import { allowing, BEARER } from "../../support/tools/tool-host.ts";

const TOKEN = "tok-9c1f04ab77d2";

test("no secret gets into a recording: not from the headers, a server that repeats it, or params that hold it", {
  timeout: 120_000,
}, async () => {
  const server = await openUpstream(({ headers }, response) =>
    response.end(`you are ${headers.authorization}, that is ${headers.authorization?.slice(7)}`),
  );
  onTestFinished(() => server.close());
  const { credentials } = BEARER;
  const auth = { ...BEARER.auth, env_var: "PROBE_TOKEN" };
  const cwd = temporaryFolder();
  const home = join(cwd, "home");
  mkdirSync(home, { mode: 0o700 });
  const bytes = await fixture("prober.js");
  await copyCode(bytes, home);
  writeFileSync(join(cwd, "prober.wasm"), bytes);
  writeFileSync(
    join(cwd, "prober.json"),
    JSON.stringify({ ...JSON.parse(allowing("127.0.0.1", { credentials })), auth }),
  );
  const plain = {
    POSTERN_HOME: home,
    TOOLS_PRIVATE_HOSTS: `127.0.0.1:${server.port}`,
    TOOLS_SHIPPED: "false",
  };
  const tool = (args: readonly string[], env: Readonly<Record<string, string>> = plain) =>
    postern(["tool", ...args], { env, cwd });
  await tool(["install", "prober.wasm", "--capabilities", "prober.json", "--name", "prober"]);

  const params = { url: `http://127.0.0.1:${server.port}/v1/x`, secret: TOKEN };
  const run = ["run", "prober", JSON.stringify(params)];
  const recorded = await tool([...run, "--record", "tape.json"], { ...plain, PROBE_TOKEN: TOKEN });
  expect(recorded.code).toBe(0);
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  const tape = readFileSync(join(cwd, "tape.json"), "utf8");
  expect(tape).not.toContain(TOKEN);
  expect(tape).not.toContain(Buffer.from(TOKEN).toString("base64"));
  expect(JSON.parse(tape)).toMatchObject({
    params: { url: params.url },
    exchanges: [{ request: { method: "GET", url: params.url }, reply: { status: 200 } }],
  });

  await server.close();
  const replayed = await tool([
    "run",
    "prober",
    JSON.stringify({ url: params.url }),
    "--replay",
    "tape.json",
  ]);
  expect(JSON.parse(replayed.stdout)).toMatchObject({ answers: [200] });
});
