import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { postern, startPostern } from "../../../support/processes/postern.ts";
import { newProject } from "../../../support/tools/projects.ts";

test("tool dev builds at each change, says what is wrong, installs beside the project and shows receipts", async () => {
  const folder = await newProject();
  const cwd = dirname(folder);
  const env = { POSTERN_HOME: join(cwd, "home") };
  const dev = startPostern(["tool", "dev", "countdown", "--engine", "quickjs"], { cwd, env });
  const rounds = () => dev.stderr().split("watching countdown with the home countdown/.postern").length - 1;
  // Each builds the tool.
  const round = (count: number) => expect.poll(rounds, { interval: 200, timeout: 300_000 }).toBe(count);
  await round(1);
  await expect
    .poll(dev.stdout)
    .toMatch(/^date\.json +ok +\d+ ms +\d+\.\d MiB +no requests +\{"date":"2030-01-01"/m);
  await expect
    .poll(dev.stdout)
    .toMatch(/^next-holiday\.json +ok .* GET date\.nager\.at 200 +\{.*Christmas Day/m);
  await expect.poll(dev.stdout).toContain("next-holiday.json: info: fetching the public holidays of DE");
  expect(dev.stderr()).toContain("chat with countdown: POSTERN_HOME=countdown/.postern postern\n");

  const source = join(folder, "tool.ts");
  const good = readFileSync(source, "utf8");
  // As editors that save by rename do; the next save is written in place.
  writeFileSync(`${source}.swap`, good.replace('log("info"', 'log("loud"'));
  renameSync(`${source}.swap`, source);
  await round(2);
  expect(dev.stderr()).toMatch(/tool\.ts:\d+:\d+: .*"loud"/);

  writeFileSync(source, good.replace("days: daysUntil(date) }", "days: daysUntil(date), edited: true }"));
  await round(3);
  await expect.poll(dev.stdout).toContain('"edited":true');

  const chat = { cwd, env: { POSTERN_HOME: "countdown/.postern" } };
  const { stdout: said } = await postern(["ask", "countdown to 2030-01-01"], chat);
  expect(said).toContain("2030-01-01");

  writeFileSync(
    source,
    good.replace("    try {", '    if (params.includes("DE")) throw new Error("fell");\n    try {'),
  );
  await round(4);
  const line = good.slice(0, good.indexOf("    try {")).split("\n").length;
  await expect
    .poll(dev.stdout)
    .toMatch(
      new RegExp(String.raw`^next-holiday\.json +threw .*The tool threw: fell \(tool\.ts:${line}:\d+\)`, "m"),
    );
  await expect
    .poll(dev.stdout)
    .toMatch(
      new RegExp(String.raw`^next-holiday\.json: error: fell\n +at execute \(tool\.ts:${line}:\d+\)`, "m"),
    );

  dev.kill("SIGINT");
  expect(await dev.ended).toBe(0);
  const scratch = { POSTERN_HOME: join(folder, ".postern") };
  const log = await postern(["tool", "log", "countdown", "--json"], { cwd, env: scratch });
  expect(JSON.parse(log.stdout).receipts).toHaveLength(7);
});
