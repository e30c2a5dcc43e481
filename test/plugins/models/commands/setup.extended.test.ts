import { expect, test } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";
import { postern } from "../../../support/processes/postern.ts";
import { posternInTerminal } from "../../../support/processes/terminal.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { prepareShipped } from "../../../support/tools/shipped.ts";

test("setup asks on a terminal, hides the key, tests the model, saves, and runs a first tool", async () => {
  const model = await scriptedModel();
  const home = temporaryFolder();
  const env = { POSTERN_HOME: home, HOME: home, TOOLS_SHIPPED: "true" };
  await prepareShipped();
  const typed = posternInTerminal(["setup", "--provider", "openai-compatible"], { env, cwd: home });
  const answer = async (question: string, keys: string, shown = keys) => {
    await typed.shows(question);
    typed.type(keys);
    await typed.shows(shown);
    typed.type("\r");
  };
  await answer("URL of the server", "http://");
  await typed.shows("That is no address");
  typed.type("\u0015");
  await answer("", "localhost:9");
  await answer("MODEL_API_KEY (hidden)", "the-key-of-the-terminal", "▪".repeat(23));
  await typed.shows("http://localhost:9 cannot be reached");
  await answer("Give another address", "\u001b[B", "");
  const isLast = (later: string, earlier: string) =>
    typed.text().lastIndexOf(later) > typed.text().lastIndexOf(earlier);
  await expect.poll(() => isLast("URL of the server", "What now?")).toBe(true);
  await answer("", model.url.replace("http://", ""));
  await answer("Model (type to search)", "", "scripted");
  model.script({ text: "ready" });
  await answer("US dollars a user may spend per day", "5");
  await typed.shows("answered: ready");
  await typed.shows("Saved. scripted (openai-compatible) answers");
  await answer("Try a first tool?", "");
  await typed.shows("→ ");
  await typed.shows("42.16");
  expect(await typed.ended).toBe(0);
  expect(typed.text()).not.toContain("the-key-of-the-terminal");
  expect(model.keys).toEqual(["Bearer the-key-of-the-terminal"]);
  expect((await postern(["config", "get", "DAILY_USD_CAP"], { env })).stdout).toBe("5\n");
});

test("setup works with flags and without a terminal, which it explains", async () => {
  const model = await scriptedModel();
  const env = { POSTERN_HOME: temporaryFolder() };
  const none = await postern(["setup"], { env });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("--key-stdin") });
  const flags = ["--provider", "openai-compatible", "--base-url", model.url, "--model", "scripted", "--yes"];
  model.script({ text: "ready" });
  const set = await postern(["setup", ...flags, "--key-stdin", "--json"], { env, input: "key-by-a-pipe\n" });
  expect(JSON.parse(set.stdout)).toMatchObject({ test: { ok: true, model: { name: "scripted" } } });
  expect(model.keys).toEqual(["Bearer key-by-a-pipe"]);
  const wrong = await postern(["setup", "--provider", "nosuch", "--yes"], { env });
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("MODEL_PROVIDER: got") });
});
