/** What `--record` keeps, looked through for every secret that was near. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { postern } from "../../support/processes/postern.ts";
import { allowing, BEARER } from "../../support/tools/tool-host.ts";
import { workplace } from "../../support/tools/workplace.ts";

const TOKEN = "tok-9c1f04ab77d2";

test("no secret gets into a recording: not from the headers, a server that repeats it, or params that hold it", async () => {
  const { credentials } = BEARER;
  const auth = { ...BEARER.auth, env_var: "PROBE_TOKEN" };
  const { cwd, env, server, url, tool, installed } = await workplace({
    capabilities: JSON.stringify({ ...JSON.parse(allowing("127.0.0.1", { credentials })), auth }),
    answer: ({ headers }, response) =>
      response.end(`you are ${headers.authorization}, that is ${headers.authorization?.slice(7)}`),
  });
  await installed();

  const params = JSON.stringify({ url, secret: TOKEN });
  const recorded = await postern(["tool", "run", "prober", params, "--record", "tape.json"], {
    cwd,
    env: { ...env, PROBE_TOKEN: TOKEN },
  });
  expect(recorded.code).toBe(0);
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  const tape = readFileSync(join(cwd, "tape.json"), "utf8");
  expect(tape).not.toContain(TOKEN);
  expect(tape).not.toContain(Buffer.from(TOKEN).toString("base64"));
  expect(JSON.parse(tape)).toMatchObject({
    params: { url },
    exchanges: [{ request: { method: "GET", url }, reply: { status: 200 } }],
  });

  await server.close();
  const replayed = await tool("run", "prober", JSON.stringify({ url }), "--replay", "tape.json");
  expect(JSON.parse(replayed.stdout)).toMatchObject({ answers: [200] });
});
