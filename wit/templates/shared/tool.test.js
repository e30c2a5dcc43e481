/** Runs the built component in the real sandbox with recorded responses: no network, no secrets. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

const NAME = "my-tool";
const home = await mkdtemp(join(tmpdir(), "postern-"));

async function postern(...args) {
  const options = { cwd: import.meta.dirname, env: { ...process.env, POSTERN_HOME: home } };
  // If the tool returns an error, the command exits with 1 but still prints the result.
  const { stdout } = await promisify(execFile)("postern", args, options).catch((error) => error);
  return JSON.parse(stdout);
}

const run = (params, recording) =>
  postern("tool", "run", NAME, JSON.stringify(params), "--replay", recording, "--json");

before(async () => {
  await postern("tool", "build", ".", "--json");
  const files = [`dist/${NAME}.wasm`, "--capabilities", "capabilities.json"];
  await postern("tool", "install", ...files, "--name", NAME, "--json");
});

after(() => rm(home, { recursive: true }));

test("it finds the next public holiday of a country", async () => {
  const { output, receipt } = await run({ country: "DE" }, "recordings/next-holiday.json");
  assert.equal(JSON.parse(output).name, "Christmas Day");
  assert.equal(receipt.requests[0].host, "date.nager.at");
});

test("it counts to a date without any request", async () => {
  const { output, receipt } = await run({ date: "2030-01-01" }, "recordings/date.json");
  assert.equal(typeof JSON.parse(output).days, "number");
  assert.deepEqual(receipt.requests, []);
});

test("it reports missing params", async () => {
  const { error } = await run({}, "recordings/date.json");
  assert.equal(error, "Give 'date' or 'country'.");
});
