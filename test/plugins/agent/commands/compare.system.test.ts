/** `postern models compare` as it is typed, on a home with ten threads. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { postern, startPostern } from "../../../support/processes/postern.ts";
import { answerAsBuiltin, tenThreads } from "../../../support/services/ten-threads.ts";

test("postern models compare says what it costs, asks, prints both answers and a summary, and writes a page", async () => {
  const { home, model } = await tenThreads();
  model.otherwise((request) => {
    const said = answerAsBuiltin(request);
    return "text" in said ? { ...said, text: "<script>alert(1)</script> & more" } : said;
  });
  const env = { POSTERN_HOME: home, MODEL_BASE_URL: model.url, MODEL_NAME: "scripted", LOG_LEVEL: "error" };
  const compare = (...args: string[]) =>
    postern(["models", "compare", "scripted", ...args], { env, cwd: home });
  const unasked = await compare();
  expect(unasked).toMatchObject({ code: 1, stderr: expect.stringContaining("pass --yes to agree") });
  expect(unasked.stderr).toContain(`the texts go to ${new URL(model.url).host}. Estimated cost: $`);
  expect(model.requests).toEqual([]);

  const stopped = startPostern(["models", "compare", "scripted", "--yes", "--last", "2"], { env, cwd: home });
  const wait = Promise.withResolvers<string>();
  model.script({ text: "first" }, { text: ["sec", wait.promise] });
  await stopped.printed("1/2");
  await expect.poll(() => model.requests.length).toBe(2);
  stopped.kill("SIGINT");
  expect(await stopped.ended).toBe(1);
  wait.resolve("ond");
  expect(stopped.stderr()).toContain("The same command continues the comparison.");

  const { stdout, stderr } = await compare("--yes", "--page", "compare.html");
  expect(stderr).toContain("9 turns to replay with scripted (openai-compatible) (1 of 10 replayed already)");
  expect(stdout).toMatch(
    /^10\/10 › What can you do\?\n {2}same calls\n {2}builtin \(0 \+ 0 tokens, .*, 0 questions\)$/m,
  );
  expect(stdout).toContain("called weather");
  expect(stdout).toMatch(/^10 turns: \d same calls, /m);
  const page = readFileSync(join(home, "compare.html"), "utf8");
  expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt; &amp; more");
  expect(page).not.toContain("<script");
  const { turns, summary } = JSON.parse((await compare("--json", "--last", "1")).stdout);
  expect(summary).toEqual({ same: 1 });
  expect(turns).toMatchObject([{ text: "What can you do?", calls: "same", after: { usage: { cost: 0 } } }]);
  expect((await compare("--page", "compare.html")).stderr).toContain("is there already: use --replace");
});
