/** Commands typed while a service runs with the home: they work through it, and with `--url` from anywhere. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { servePostern } from "../../support/processes/served.ts";

async function serve(settings: Readonly<Record<string, string>> = {}) {
  const served = await servePostern(settings);
  const run = (...args: readonly string[]) =>
    postern(args, { env: { POSTERN_HOME: served.home }, cwd: served.home });
  return { ...served, run };
}

const paths = (home: string) =>
  readFileSync(join(home, "logs", "postern.log"), "utf8")
    .split("\n")
    .flatMap((line) => /"method":"(\w+)","path":"([^"]+)"/.exec(line)?.slice(1, 3).join(" ") ?? []);

test("ask, thread, job, routine and usage work through the service that runs with the home", async () => {
  const { home, model, run } = await serve();
  model.otherwise({ text: ["Your bike is ", "red."] });
  const asked = await run("ask", "What colour is my bike?");
  expect(asked).toMatchObject({ code: 0, stdout: "Your bike is red.\n", stderr: "" });
  // The model of the service answered, though this process has none; the turn says where it came from.
  const { threads } = JSON.parse((await run("thread", "list", "--json")).stdout);
  const [{ id }] = threads as [{ id: string }];
  expect(JSON.parse((await run("thread", "show", id.slice(0, 8), "--json")).stdout)).toMatchObject({
    turns: [{ channel: "ask", status: "completed" }],
  });
  const events = (await run("ask", "--json", "--thread", id.slice(0, 8), "And now?")).stdout
    .trim()
    .split("\n");
  expect(events.map((line) => JSON.parse(line).type)).toEqual(["started", "text", "text", "usage", "done"]);
  expect((await run("thread", "rename", id.slice(0, 8), "The", "bike")).code).toBe(0);
  expect((await run("thread", "search", "bike")).stdout).toContain("The bike");
  expect((await run("thread", "export", id)).stdout).toContain("# The bike");

  const added = await run("routine", "add", "weekdays at 8:00", "Say hello", "--budget", "0.10", "--json");
  const { id: routine } = JSON.parse(added.stdout) as { id: string };
  expect((await run("routine", "list")).stdout).toMatch(new RegExp(`\\n${routine} +operator +active +every`));
  expect((await run("routine", "preview", "weekdays at 8:00")).stdout).toMatch(/^every weekday at 8:00 \(/);
  expect((await run("routine", "pause", routine.slice(0, 6))).stdout).toBe(`Paused ${routine}.\n`);
  expect((await run("routine", "remove", routine)).stdout).toBe(`Removed ${routine}.\n`);
  expect(await run("routine", "show", routine)).toMatchObject({ code: 1 });
  expect(await run("routine", "add", "weekdays at 8:00", "x", "--user", "nobody")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There is no user nobody"),
  });
  expect((await run("job", "list")).stdout).toBe("No jobs.\n");
  expect(await run("job", "show", "12345678")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("there is no job 12345678"),
  });
  expect((await run("usage", "--days", "2")).stdout).toMatch(/\nall +2 +0 +\d+[\s\S]*\nYou keep /);
  const points = JSON.parse((await run("usage", "--days", "2", "--json")).stdout).turns.points as unknown[];
  expect(points).toHaveLength(1);

  // Another user's threads are only in the store. The log is written behind, in order: the last request shows that all are there.
  expect((await run("thread", "list", "--user", "ann")).stdout).toBe("No threads yet.\n");
  expect((await run("thread", "remove", id, "--yes")).stdout).toContain('Moved "The bike" to the bin.');
  expect((await run("thread", "bin")).stdout).toContain("The bike");
  expect((await run("thread", "restore", id.slice(0, 8))).stdout).toBe('Restored "The bike".\n');
  await run("thread", "remove", id, "--yes");
  expect((await run("thread", "remove", id, "--yes", "--now")).stdout).toBe('Deleted "The bike" for good.\n');
  expect((await run("thread", "empty-bin")).stdout).toBe("The bin is empty.\n");
  const latest = () => {
    const requests = paths(home);
    return requests.slice(requests.lastIndexOf("GET /api/usage") + 1);
  };
  const changes = () => latest().filter((path) => !path.startsWith("GET"));
  const remove = `DELETE /api/threads/${id}`;
  await expect.poll(changes).toEqual([remove, `POST /api/bin/${id}/restore`, remove, remove]);
  expect(latest()[0]).toBe(`GET /api/threads/${id}`);
  const requests = paths(home);
  expect(requests).toEqual(expect.arrayContaining(["POST /api/chat/send", "GET /api/jobs"]));
});

test("--url reaches a service from anywhere, with a token that is never an argument", async () => {
  const { home, url, model } = await serve();
  model.otherwise({ text: "Hello from afar." });
  const token = readFileSync(join(home, "webui-token"), "utf8").trim();
  const cwd = temporaryFolder();
  const elsewhere = join(cwd, "home");
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    postern(args, { env: { POSTERN_HOME: elsewhere, POSTERN_TOKEN: token, ...env }, cwd });
  expect(await run(["ask", "--url", url, "Hello"])).toMatchObject({ code: 0, stdout: "Hello from afar.\n" });
  expect((await run(["--url", url, "thread", "list"])).stdout).toContain("Hello");
  expect(await run(["thread", "list", "--url", url], { POSTERN_TOKEN: "wrong" })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("does not accept the token"),
  });
  expect(await run(["thread", "list", "--url", url, "--user", "ann"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("leave --user out"),
  });
  expect(await run(["config", "--url", url])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--url does not go with config"),
  });
});

test("a service without a gateway leaves commands to the store", async () => {
  const { run } = await serve({ GATEWAY_ENABLED: "false" });
  expect(await run("thread", "list")).toMatchObject({ code: 0, stdout: "No threads yet.\n" });
});
