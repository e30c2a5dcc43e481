/**
 * Runs the built component in the real sandbox with recorded responses: no network, no secrets. These tests hold
 * whatever the tool does: it keeps the contract, and every call in recordings/ succeeds. Add your own below them.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

const NAME = "my-tool";
const home = await mkdtemp(join(tmpdir(), "postern-"));
const folder = join(import.meta.dirname, "recordings");
const recordings = (await readdir(folder).catch(() => [])).filter((file) => file.endsWith(".json"));

async function postern(...args) {
  const options = { cwd: import.meta.dirname, env: { ...process.env, POSTERN_HOME: home } };
  // If the tool returns an error or a check fails, the command exits with 1 but still prints the result.
  const { stdout, stderr } = await promisify(execFile)("postern", args, options).catch((error) => error);
  assert.notEqual(stdout, "", stderr);
  return JSON.parse(stdout);
}

/** Answers { output, error, receipt }: one of the first two is null. */
const run = (params, recording) =>
  postern("tool", "run", NAME, JSON.stringify(params), "--replay", `recordings/${recording}`, "--json");

before(async () => {
  await postern("tool", "build", ".", "--json");
  const files = [`dist/${NAME}.wasm`, "--capabilities", "capabilities.json"];
  await postern("tool", "install", ...files, "--name", NAME, "--json");
});

after(() => rm(home, { recursive: true }));

test("it keeps the contract", async () => {
  const { findings } = await postern("tool", "check", ".", "--json");
  assert.deepEqual(
    findings.filter(({ verdict }) => verdict === "fail"),
    [],
  );
});

for (const recording of recordings) {
  test(`the call in ${recording} succeeds`, async () => {
    const text = await readFile(join(folder, recording), "utf8");
    const { output, error } = await run(JSON.parse(text).params, recording);
    assert.equal(error, null);
    assert.doesNotThrow(() => JSON.parse(output));
  });
}
