/** `postern thread …`, `postern memory …` and `postern usage` as they are typed, on one home that a question was asked on. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { scriptedModel } from "../../support/services/agent.ts";

async function asked() {
  const model = await scriptedModel();
  model.otherwise({ text: ["Your bike is **red**."], usage: { input: 10, output: 5, cached: 4 } });
  const cwd = temporaryFolder();
  const env = {
    POSTERN_HOME: join(cwd, "home"),
    MEMORY_VECTORS: "false",
    LOG_LEVEL: "error",
    MODEL_PROVIDER: "openai-compatible",
    MODEL_BASE_URL: model.url,
    MODEL_NAME: "scripted",
  };
  const run = (args: readonly string[], input?: string, more: Record<string, string> = {}) =>
    postern(args, { env: { ...env, ...more }, cwd, ...(input !== undefined && { input }) });
  return { cwd, run };
}

test("threads are listed, found, shown, exported and renamed, each user's apart", async () => {
  const { cwd, run } = await asked();
  expect((await run(["thread", "list"])).stdout).toBe("No threads yet.\n");
  expect((await run(["ask", "What colour is my bike?"])).stdout).toContain("red");

  const listed = await run(["thread", "list"]);
  expect(listed.stdout).toMatch(
    /^THREAD +CHANGED +TURNS +STATE +TITLE\n\S{8} {2}\w+ \w+(?: ago)? +1 +What colour is my bike\?\n$/,
  );
  const { threads } = JSON.parse((await run(["thread", "list", "--json"])).stdout);
  const [{ id }] = threads as [{ id: string }];
  expect((await run(["thread", "search", "bike"])).stdout).toContain(id.slice(0, 8));
  expect((await run(["thread", "search", "boat"])).stdout).toBe('No thread found for "boat".\n');
  expect((await run(["thread", "list", "--user", "ann"])).stdout).toBe("No threads yet.\n");

  const shown = await run(["thread", "show", id.slice(0, 8)]);
  expect(shown.stdout).toMatch(/› What colour is my bike\?\n[\s\S]*Your bike is \*\*red\*\*\.\n$/);
  const wire = JSON.parse((await run(["thread", "show", id, "--json"])).stdout);
  expect(wire).toMatchObject({ thread: { id }, turns: [{ thread_id: id, status: "completed" }], next: null });

  const markdown = await run(["thread", "export", id]);
  expect(markdown.stdout).toContain("Your bike is **red**.");
  const written = await run(["thread", "export", id, "--format", "json", "--output", "talk.json"]);
  expect(written).toMatchObject({ code: 0, stdout: `Wrote ${join(cwd, "talk.json")}.\n` });
  expect(JSON.parse(readFileSync(join(cwd, "talk.json"), "utf8"))).toMatchObject({
    turns: [{ thread_id: id }],
  });
  const again = await run(["thread", "export", id, "--output", "talk.json"]);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("use --replace") });
  expect((await run(["thread", "export", id, "--output", "talk.json", "--replace"])).code).toBe(0);
  expect(readFileSync(join(cwd, "talk.json"), "utf8")).toBe(markdown.stdout);
  expect((await run(["thread", "export", id, "--output", ".", "--replace"])).code).toBe(2);
  expect((await run(["thread", "export", id, "--format", "pdf"])).code).toBe(2);

  expect((await run(["thread", "rename", id, "The", "bike"])).stdout).toBe(
    `${id.slice(0, 13)} is now "The bike".\n`,
  );
  const foreign = await run(["thread", "remove", id, "--user", "ann"]);
  expect(foreign).toMatchObject({ code: 1, stderr: expect.stringContaining(`ann has no thread ${id}`) });
});

test("a thread is moved to the bin and restored, or deleted for good, only if somebody agrees", async () => {
  const { run } = await asked();
  for (const words of ["The red bike", "A boat"]) await run(["ask", words]);
  const { threads } = JSON.parse((await run(["thread", "list", "--json"])).stdout);
  const [boat, bike] = threads.map(({ id }: { id: string }) => id) as [string, string];
  expect(await run(["thread", "bin"])).toMatchObject({ code: 0, stdout: "The bin is empty.\n" });
  expect((await run(["thread", "empty-bin"])).stdout).toBe("The bin is empty.\n");

  // The answer of a pipe is nobody's.
  const unasked = await run(["thread", "remove", bike], "y\n");
  expect(unasked.code).toBe(1);
  expect(unasked.stderr).toMatch(
    /Move "The red bike" \(1 turn, last changed .+\) to the bin\? It can be restored for 30 days\. There is no terminal to ask on; pass --yes/,
  );
  expect((await run(["thread", "remove", bike, "--now"])).stderr).toMatch(
    /^postern: Delete "The red bike" \(.*\) for good\? It cannot be restored\. .* --yes/,
  );
  expect((await run(["thread", "list"])).stdout).toContain("The red bike");

  const removed = await run(["thread", "remove", bike, "--yes"]);
  expect(removed.stdout).toMatch(
    /^Moved "The red bike" to the bin\. To undo: .*postern thread restore ([\da-f-]{13})\n$/,
  );
  expect((await run(["thread", "list"])).stdout).not.toContain("The red bike");
  expect((await run(["thread", "show", bike])).code).toBe(1);
  expect((await run(["thread", "bin"])).stdout).toMatch(
    /^THREAD +DELETED +TURNS +GONE +TITLE\n\S{8} .+ 1 +in 30 days +The red bike\n$/,
  );
  expect(JSON.parse((await run(["thread", "bin", "--json"])).stdout)).toMatchObject({
    threads: [{ id: bike, expires_at: expect.any(String) }],
    next: null,
  });
  expect((await run(["thread", "bin", "--user", "ann"])).stdout).toBe("The bin is empty.\n");
  expect(await run(["thread", "restore", boat])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`operator has no thread ${boat} in the bin; "postern thread bin" shows`),
  });
  expect((await run(["thread", "restore", bike.slice(0, 13)])).stdout).toBe('Restored "The red bike".\n');
  expect((await run(["thread", "list"])).stdout).toContain("The red bike");

  const json = ["--yes", "--json"];
  expect(JSON.parse((await run(["thread", "remove", bike, ...json])).stdout)).toEqual({
    removed: bike,
    restorable: true,
  });
  // They were begun within a moment, so their ids begin alike.
  const alike = await run(["thread", "remove", bike.slice(0, 6), "--now", "--yes"]);
  expect(alike).toMatchObject({ code: 2, stderr: expect.stringContaining("The red bike (in the bin)") });
  expect((await run(["thread", "remove", bike, "--now", "--yes"])).stdout).toBe(
    'Deleted "The red bike" for good.\n',
  );
  expect((await run(["thread", "bin"])).stdout).toBe("The bin is empty.\n");
  await run(["thread", "remove", boat, "--yes"]);
  expect(await run(["thread", "empty-bin"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("pass --yes"),
  });
  expect((await run(["thread", "empty-bin", "--yes"])).stdout).toBe("Deleted 1 thread for good.\n");
  expect((await run(["thread", "restore", boat])).code).toBe(1);
});

test("memory is written from a pipe, a file or the editor, and only over the version that was read", async () => {
  const { cwd, run } = await asked();
  expect((await run(["memory", "list"])).stdout).toBe("Nothing is remembered yet.\n");
  const piped = await run(["memory", "write", "facts/bike.md"], "My bike is red.\n");
  expect(piped.stdout).toBe("Wrote facts/bike.md, version 1.\n");
  writeFileSync(join(cwd, "bike.md"), "My bike is blue.\n");
  const write = ["memory", "write", "facts/bike.md"];
  expect((await run([...write, "--file", "bike.md", "--expect", "1"])).stdout).toContain("version 2");
  const late = await run([...write, "--file", "bike.md", "--expect", "1"]);
  expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining("has changed since you read it") });
  expect(await run([...write], "")).toMatchObject({ code: 2, stderr: expect.stringContaining("--edit") });
  expect((await run([...write, "--file", "none.md"])).code).toBe(2);

  const editor = join(cwd, "editor");
  writeFileSync(editor, '#!/bin/sh\n[ -z "$1" ] || sed -i s/blue/green/ "$2"\n');
  chmodSync(editor, 0o755);
  const edited = await run([...write, "--edit"], undefined, { EDITOR: `${editor} --wait` });
  expect(edited.stdout).toContain("version 3");
  expect((await run([...write, "--edit"], undefined, { EDITOR: "true" })).stdout).toBe(
    "Nothing was changed.\n",
  );
  const broken = await run([...write, "--edit"], undefined, { EDITOR: "false" });
  const kept = /What you wrote is in (\S+)\.\n/.exec(broken.stderr)?.[1] ?? "";
  expect([broken.code, readFileSync(kept, "utf8")]).toEqual([1, "My bike is green.\n"]);

  expect((await run(["memory", "show", "facts/bike.md"])).stdout).toBe("My bike is green.\n");
  expect(JSON.parse((await run(["memory", "show", "facts/bike.md", "--json"])).stdout)).toMatchObject({
    version: 3,
  });
  const history = (await run(["memory", "history", "facts/bike.md"])).stdout;
  expect(history).toMatch(/^VERSION +WRITTEN +BYTES +BY\n(\d+ .* on the command line\n)+$/);
  expect((await run(["memory", "show", "facts/bike.md", "--version", "1"])).stdout).toBe("My bike is red.\n");
  const { versions } = JSON.parse((await run(["memory", "history", "facts/bike.md", "--json"])).stdout);
  expect(versions).toHaveLength(history.split("\n").length - 2);
  expect(versions.at(-1)).toMatchObject({ version: 1, writer: { kind: "cli" } });
  expect(await run(["memory", "show", "facts/bike.md", "--version", "99"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no version 99 of facts/bike.md"),
  });
  expect((await run(["memory", "list"])).stdout).toMatch(/^PATH +BYTES +CHANGED +FROM\nfacts\/bike\.md +18 /);
  expect((await run(["memory", "search", "bike"])).stdout).toContain("My bike is green.");
  expect((await run(["memory", "list", "--user", "ann"])).stdout).toBe("Nothing is remembered yet.\n");
  expect((await run(["memory", "remove", "facts/bike.md"])).stdout).toBe("Removed facts/bike.md.\n");
  expect((await run(["memory", "remove", "facts/bike.md"])).code).toBe(1);
});

test("usage counts turns by model, user or channel, and the calls of tools, and says what a user keeps", async () => {
  const { run } = await asked();
  const days = (text: string) => ["usage", "--days", text];
  expect((await run(days("7"))).stdout).toBe(
    "No turns in the last 7 days.\n\nYou keep 0 MB of 2,000 MB (USER_STORAGE_MB).\n",
  );
  await run(["ask", "What colour is my bike?"]);
  expect((await run(days("7"))).stdout).toMatch(
    /^MODEL +TURNS +FAILED +TOKENS IN +TOKENS OUT +COST +CACHED +SAVED +HALF TOOK +95% TOOK\nopenai-compatible\/scripted +1 +0 +10 +5 +\$0\.00 +40% +\$0\.00 .*\nall +1 /,
  );
  expect((await run([...days("7"), "--by", "user"])).stdout).toContain("operator");
  expect((await run([...days("7"), "--by", "tool"])).stdout).toMatch(
    /^No calls in the last 7 days\.\n\nYou keep 0 MB of 2,000 MB \(USER_STORAGE_MB\): threads 0 MB\.\n$/,
  );
  expect(JSON.parse((await run([...days("7"), "--by", "tool", "--json"])).stdout)).toMatchObject({
    by: "tool",
    calls: { total: { count: 0 }, groups: [] },
    storage: { user: "operator", max_bytes: 2_000_000_000, kinds: { files: 0, memory: 0, jobs: 0 } },
  });
  expect((await run(days("0"))).code).toBe(2);
  expect((await run(["usage", "--by", "colour"])).stderr).toContain("model, tool, user, channel");
});
